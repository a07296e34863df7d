{{/* Arguments that a benchmark's container has besides its own options. */}}
{{- define "llmbench.runArguments" -}}
- --runs-dir=/runs
- --metrics-host=0.0.0.0
- --metrics-port={{ .Values.benchmarkPods.metricsPort }}
{{- if include "llmbench.usesBucket" . }}
- {{ printf "--upload=%s" (include "llmbench.runs" .) | quote }}
{{- end }}
{{- end }}

{{/* Names of options that the chart sets. */}}
{{- define "llmbench.runReserved" -}}
run-id shard start-at upload runs-dir metrics-host metrics-port scenario json s3-endpoint s3-addressing
{{- end }}

{{/* A container that measures or judges. `root`, `name`, `args` */}}
{{- define "llmbench.benchmarkContainer" -}}
{{- $pods := .root.Values.benchmarkPods -}}
- name: {{ .name }}
  image: {{ include "llmbench.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  # The end of the log, which says why, is in the status of a pod that failed.
  terminationMessagePolicy: FallbackToLogsOnError
  args:
    {{- .args | trim | nindent 4 }}
  env:
    {{- include "llmbench.env" .root | nindent 4 }}
    {{- with $pods.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- include "llmbench.envFrom" (dict "root" .root "own" $pods.envFrom) | nindent 2 }}
  {{- if eq .name "run" }}
  ports:
    - name: live
      containerPort: {{ $pods.metricsPort }}
  {{- end }}
  resources:
    {{- toYaml $pods.resources | nindent 4 }}
  securityContext:
    {{- include "llmbench.containerSecurity" .root | nindent 4 }}
  volumeMounts:
    {{- include "llmbench.writableMounts" .root | nindent 4 }}
    {{- with $pods.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Metadata of the pods of a benchmark. */}}
{{- define "llmbench.benchmarkMetadata" -}}
{{- $pods := .Values.benchmarkPods -}}
# Without the version of the chart: the pods of a Job cannot be changed.
labels:
  {{- include "llmbench.selector" . | nindent 2 }}
  {{- with .Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  app.kubernetes.io/component: benchmark
  {{- with $pods.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $annotations := dict "cluster-autoscaler.kubernetes.io/safe-to-evict" "false" }}
{{- if eq .Values.monitoring.kind "annotations" }}
{{- $annotations = merge $annotations (include "llmbench.scrapeAnnotations" (dict "port" $pods.metricsPort "scheme" "http") | fromYaml) }}
{{- end }}
annotations:
  {{- mergeOverwrite $annotations $pods.podAnnotations | toYaml | nindent 2 }}
{{- end }}

{{/* What a benchmark's pod has besides its containers. */}}
{{- define "llmbench.benchmarkPod" -}}
restartPolicy: Never
serviceAccountName: {{ include "llmbench.serviceAccount" . }}
automountServiceAccountToken: {{ gt (len .Values.benchmarkPods.listPodsIn) 0 }}
enableServiceLinks: false
# After SIGTERM a run waits for the requests in flight, and stores what was measured.
terminationGracePeriodSeconds: 120
securityContext:
  {{- include "llmbench.podSecurity" . | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- include "llmbench.scheduling" .Values.benchmarkPods }}
volumes:
  {{- include "llmbench.writableVolumes" . | nindent 2 }}
  {{- with .Values.benchmarkPods.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
