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

{{- define "aep.metadata" -}}
labels:
  {{- include "aep.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* An image by its repository and tag. */}}
{{- define "aep.image" -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* Deployments of the release, each with its number of pods at the least. */}}
{{- define "aep.deployments" -}}
{{- $least := dict }}
{{- if .Values.platform.enabled }}
{{- $_ := set $least "scheduler" .Values.scheduler.replicas }}
{{- $_ := set $least "service" (.Values.service.autoscaling.enabled | ternary .Values.service.autoscaling.minReplicas .Values.service.replicas) }}
{{- end }}
{{- with .Values.runner }}
{{- if .enabled }}
{{- $_ := set $least "runner" (or .autoscaling.enabled .autoscaling.keda.enabled | ternary .autoscaling.minReplicas .replicas) }}
{{- end }}
{{- end }}
{{- toYaml $least }}
{{- end }}

{{/* Address of the platform for runners. */}}
{{- define "aep.platformUrl" -}}
{{- if .Values.runner.platformUrl }}
{{- .Values.runner.platformUrl }}
{{- else }}
{{- required "runner.platformUrl: must be the address of the platform, which is not in this release." .Values.settings.PUBLIC_URL }}
{{- end }}
{{- end }}

{{/* Members of a pod that all components share: an ordinary account, placement, one pod per node as far as possible. */}}
{{- define "aep.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "aep.selector" . | nindent 8 }}
{{- end }}

{{- define "aep.restricted" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Members of a container of the service that all its components share. */}}
{{- define "aep.container" -}}
image: {{ include "aep.image" (dict "root" .root "image" .root.Values.image) }}
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
{{ include "aep.restricted" . }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
{{- end }}

{{/* Outgoing connections of the service and of runners. */}}
{{- define "aep.egress" -}}
egress:
  {{- if .Values.networkPolicy.egress }}
  {{- toYaml .Values.networkPolicy.egress | nindent 2 }}
  {{- else }}
  # Models, trackers, source hosts and addresses that users choose. Metadata of instances holds credentials.
  - to:
      - ipBlock: { cidr: 0.0.0.0/0, except: [169.254.0.0/16] }
      - ipBlock: { cidr: '::/0', except: ['fe80::/10', 'fd00:ec2::/32'] }
      # Pods of the cluster, such as those of a database, which many networks do not find by address.
      - namespaceSelector: {}
  - ports:
      - { port: 53, protocol: UDP }
      - { port: 53, protocol: TCP }
  {{- end }}
{{- end }}

{{/* A deployment of processes that serve. Those that take requests and those of the scheduler differ in their settings alone. */}}
{{- define "aep.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  {{- include "aep.metadata" . | nindent 2 }}
spec:
  {{- if not (dig "autoscaling" "enabled" false .values) }}
  replicas: {{ .values.replicas }}
  {{- end }}
  strategy:
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels: {{- include "aep.selector" . | nindent 6 }}
  template:
    metadata:
      {{- include "aep.metadata" . | nindent 6 }}
    spec:
      serviceAccountName: {{ .root.Release.Name }}
      automountServiceAccountToken: false
      # Open requests have ten seconds, jobs as long again.
      terminationGracePeriodSeconds: 30
      {{- include "aep.pod" . | nindent 6 }}
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
          {{- include "aep.preStop" . | nindent 10 }}
          resources: {{- toYaml .values.resources | nindent 12 }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 1Gi }
{{- end }}

{{- define "aep.preStop" -}}
lifecycle:
  # Load balancers learn in this time that the pod ends.
  preStop:
    exec: { command: [sleep, '5'] }
{{- end }}
