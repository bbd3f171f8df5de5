{{/* Rights of the runner in the namespace of missions. */}}
{{- define "aep.rights" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  namespace: {{ .root.Values.runner.missions.namespace }}
  {{- include "aep.metadata" (dict "root" .root "component" "runner") | nindent 2 }}
rules:
  {{- range .rules }}
  - apiGroups: [{{ index . 0 | quote }}]
    resources: [{{ index . 1 }}]
    verbs: [{{ index . 2 }}]
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .root.Values.runner.missions.namespace }}
  {{- include "aep.metadata" (dict "root" .root "component" "runner") | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .root.Release.Name }}-runner
    namespace: {{ .root.Release.Namespace }}
{{- end }}
