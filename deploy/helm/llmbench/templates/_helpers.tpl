{{- define "llmbench.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* The name of the release's objects; at most 40 characters, so that a suffix fits. */}}
{{- define "llmbench.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "llmbench.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "llmbench.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "llmbench.selector" -}}
app.kubernetes.io/name: {{ include "llmbench.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "llmbench.labels" -}}
{{ include "llmbench.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "llmbench.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "llmbench.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "llmbench.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "llmbench.usesBucket" -}}
{{- if eq .Values.storage.kind "bucket" -}}true{{- end -}}
{{- end }}

{{/* Where runs are read from: the value of --runs-dir. */}}
{{- define "llmbench.runs" -}}
{{- if include "llmbench.usesBucket" . -}}
{{- required "storage.bucket.location is required with storage.kind=bucket: s3://BUCKET/PREFIX" .Values.storage.bucket.location -}}
{{- else -}}
/runs
{{- end -}}
{{- end }}

{{- define "llmbench.claim" -}}
{{- default (printf "%s-runs" (include "llmbench.fullname" .)) .Values.storage.volume.existingClaim -}}
{{- end }}

{{/* The volume of /runs: the claim, or with a bucket a folder that lives as long as the pod. */}}
{{- define "llmbench.runsVolume" -}}
- name: runs
{{- if include "llmbench.usesBucket" . }}
  emptyDir: {}
{{- else }}
  persistentVolumeClaim:
    claimName: {{ include "llmbench.claim" . }}
{{- end }}
{{- end }}

{{/* The root file system is read-only: these are the only places that are written to. */}}
{{- define "llmbench.writableMounts" -}}
- name: runs
  mountPath: /runs
- name: tmp
  mountPath: /tmp
- name: cache
  mountPath: /cache
{{- end }}

{{- define "llmbench.writableVolumes" -}}
{{ include "llmbench.runsVolume" . }}
- name: tmp
  emptyDir: {}
- name: cache
  emptyDir: {}
{{- end }}

{{/* Environment of every container. */}}
{{- define "llmbench.env" -}}
- name: HOME
  value: /tmp
- name: LLMBENCH_CACHE_DIR
  value: /cache
{{- if include "llmbench.usesBucket" . }}
{{- with .Values.storage.bucket }}
{{- if .endpoint }}
- name: LLMBENCH_S3_ENDPOINT
  value: {{ .endpoint | quote }}
{{- end }}
- name: LLMBENCH_S3_ADDRESSING
  value: {{ .addressing }}
{{- if .region }}
- name: AWS_REGION
  value: {{ .region | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* envFrom of every container; `own`: further sources. */}}
{{- define "llmbench.envFrom" -}}
{{- $sources := .own -}}
{{- if and (include "llmbench.usesBucket" .root) .root.Values.storage.bucket.credentialsSecret -}}
{{- $sources = prepend $sources (dict "secretRef" (dict "name" .root.Values.storage.bucket.credentialsSecret)) -}}
{{- end -}}
{{- with $sources }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "llmbench.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "llmbench.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* What pods of the exporter and of benchmarks share; `pod`: values of these pods. */}}
{{- define "llmbench.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* One value of an option. Helm reads numbers as floating point: 1000000 must not become 1e+06. */}}
{{- define "llmbench.optionValue" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}
{{- printf "%.0f" . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end }}

{{/*
Options by name as arguments: true is a flag, a list repeats the option, false and null leave it out. `$(` is escaped, which
Kubernetes would replace. `options`, `reserved`: names that the chart sets, `where`: the path of the options in the values.
*/}}
{{- define "llmbench.arguments" -}}
{{- range $key, $value := .options -}}
{{- /* In the YAML that Helm reads, the key `yes` without quotes is `true`. */ -}}
{{- $name := ternary "yes" $key (eq $key "true") -}}
{{- if has $name $.reserved -}}
{{- fail (printf "%s.%s is set by the chart: remove it" $.where $name) -}}
{{- end -}}
{{- $values := ternary $value (list $value) (kindIs "slice" $value) -}}
{{- range $values -}}
{{- if kindIs "map" . -}}
{{- fail (printf "%s.%s must be a text, a number, true, false or a list" $.where $name) -}}
{{- else if kindIs "bool" . -}}
{{- if . }}
- {{ printf "--%s" $name | quote }}
{{- end -}}
{{- else if not (kindIs "invalid" .) }}
- {{ printf "--%s=%s" $name (include "llmbench.optionValue" . | replace "$(" "$$(") | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "llmbench.scheme" -}}
{{- ternary "https" "http" .Values.exporter.webConfig.tls -}}
{{- end }}

{{- define "llmbench.serviceUrl" -}}
{{- printf "%s://%s.%s.svc:%v" (include "llmbench.scheme" .) (include "llmbench.fullname" .) .Release.Namespace .Values.exporter.service.port -}}
{{- end }}

{{/* The folder of the runbooks, without a slash at its end. */}}
{{- define "llmbench.runbookUrl" -}}
{{- $ingress := .Values.exporter.ingress -}}
{{- if .Values.rules.runbookUrl -}}
{{- trimSuffix "/" .Values.rules.runbookUrl -}}
{{- else if and $ingress.enabled $ingress.hosts -}}
{{- printf "%s://%s/runbooks" (ternary "https" "http" (ne $ingress.tlsSecret "")) (first $ingress.hosts) -}}
{{- else -}}
{{- include "llmbench.serviceUrl" . }}/runbooks
{{- end -}}
{{- end }}

{{/* Annotations by which Prometheus' example configuration finds pods. `port`, `scheme` */}}
{{- define "llmbench.scrapeAnnotations" -}}
prometheus.io/scrape: 'true'
prometheus.io/port: {{ .port | quote }}
prometheus.io/path: /metrics
prometheus.io/scheme: {{ .scheme }}
{{- end }}

{{/* The Job of a benchmark. */}}
{{- define "llmbench.job" -}}
{{- printf "%s-%s" (include "llmbench.fullname" .) .Values.benchmark.runId | lower | replace "_" "-" | trunc 52 | trimSuffix "-" }}
{{- end }}
