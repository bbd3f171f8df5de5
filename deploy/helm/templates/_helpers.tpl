{{- define "aep.labels" -}}
app.kubernetes.io/name: agent-engineering-platform
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* The selector of a component; it never changes, because selectors of deployments cannot. */}}
{{- define "aep.selector" -}}
app.kubernetes.io/name: agent-engineering-platform
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "aep.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Members of a pod that all components share: an ordinary account, placement, no token of the cluster. */}}
{{- define "aep.pod" -}}
automountServiceAccountToken: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 1Gi }
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Members of a container that all components share. */}}
{{- define "aep.container" -}}
image: {{ include "aep.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  - name: HOST
    value: 0.0.0.0
  - name: SCHEDULER
    value: {{ .scheduler | quote }}
  {{- range $name, $value := .root.Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
envFrom:
  - secretRef: { name: {{ .root.Values.secretName }} }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - name: tmp
    mountPath: /tmp
{{- end }}

{{/* A deployment of processes that serve. Those that take requests and those of the scheduler differ in their settings alone. */}}
{{- define "aep.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels:
    {{- include "aep.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  replicas: {{ .values.replicas }}
  strategy:
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels: {{- include "aep.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "aep.labels" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
    spec:
      serviceAccountName: {{ .root.Release.Name }}
      # Open requests have ten seconds, jobs as long again.
      terminationGracePeriodSeconds: 30
      {{- include "aep.pod" .root | nindent 6 }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "aep.selector" . | nindent 14 }}
      containers:
        - name: {{ .component }}
          {{- include "aep.container" . | nindent 10 }}
          ports:
            - name: http
              containerPort: 4000
          startupProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 2
            failureThreshold: 30
          livenessProbe:
            httpGet: { path: /livez, port: http }
            timeoutSeconds: 3
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 5
            timeoutSeconds: 3
          lifecycle:
            # Load balancers learn in this time that the pod ends.
            preStop:
              exec: { command: [sleep, '5'] }
          resources: {{- toYaml .values.resources | nindent 12 }}
{{- end }}
