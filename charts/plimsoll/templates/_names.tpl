{{/* Names and labels of the objects. */}}

{{- define "plimsoll.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The release's name, with the chart's behind it unless it has it already. */}}
{{- define "plimsoll.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "plimsoll.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "plimsoll.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "plimsoll.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "plimsoll.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "plimsoll.selectorLabels" -}}
app.kubernetes.io/name: {{ include "plimsoll.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "plimsoll.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "plimsoll.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
The metadata of an object: a list of the root, the name, and where they are wanted the namespace, further labels and annotations; an
empty namespace for an object that has none.
*/}}
{{- define "plimsoll.metadata" -}}
{{- $root := index . 0 }}
{{- $more := dict }}
{{- if gt (len .) 2 }}{{ $more = index . 2 }}{{ end -}}
name: {{ index . 1 }}
{{- with $more.namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "plimsoll.labels" $root | nindent 2 }}
  {{- with $more.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (default (dict) $more.annotations) $root.Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "plimsoll.image" -}}
{{- $image := .Values.controller.image }}
{{- $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Terms of a list that have no labelSelector, with that of the Deployment: a list of the root, the terms, and for weighted terms "podAffinityTerm". */}}
{{- define "plimsoll.terms" -}}
{{- $selector := dict "matchLabels" (include "plimsoll.selectorLabels" (index . 0) | fromYaml) }}
{{- $inner := "" }}
{{- if gt (len .) 2 }}{{ $inner = index . 2 }}{{ end }}
{{- $terms := list }}
{{- range index . 1 }}
{{- $term := deepCopy . }}
{{- $of := $term }}
{{- if $inner }}{{ $of = get $term $inner }}{{ end }}
{{- if not (hasKey $of "labelSelector") }}{{ $_ := set $of "labelSelector" $selector }}{{ end }}
{{- $terms = append $terms $term }}
{{- end }}
{{- toYaml $terms }}
{{- end }}

{{/* The affinity of the pods, its terms on pods completed. */}}
{{- define "plimsoll.affinity" -}}
{{- $root := . }}
{{- $affinity := deepCopy .Values.affinity }}
{{- range $key := list "podAffinity" "podAntiAffinity" }}
{{- with get $affinity $key }}
{{- with .requiredDuringSchedulingIgnoredDuringExecution }}
{{- $_ := set (get $affinity $key) "requiredDuringSchedulingIgnoredDuringExecution" (include "plimsoll.terms" (list $root .) | fromYamlArray) }}
{{- end }}
{{- with .preferredDuringSchedulingIgnoredDuringExecution }}
{{- $_ := set (get $affinity $key) "preferredDuringSchedulingIgnoredDuringExecution" (include "plimsoll.terms" (list $root . "podAffinityTerm") | fromYamlArray) }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $affinity }}
{{- end }}

{{/* A role, bound to the controller's account: a list of the root, the kind of the role, its name, and its namespace, empty where it has none. */}}
{{- define "plimsoll.binding" -}}
{{- $root := index . 0 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ index . 1 }}Binding
metadata:
  {{- include "plimsoll.metadata" (list $root (index . 2) (dict "namespace" (index . 3))) | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ index . 1 }}
  name: {{ index . 2 }}
subjects:
  - kind: ServiceAccount
    name: {{ include "plimsoll.serviceAccount" $root }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}
