{{/* Environment of the controller, under the names that Karpenter's has. */}}

{{/* One variable; nothing where its value is not given. Text may hold a template. */}}
{{- define "plimsoll.variable" -}}
{{- $root := index . 0 }}
{{- $value := index . 2 }}
{{- if kindIs "map" $value }}{{ $value = toYaml $value }}{{ end }}
{{- if kindIs "float64" $value }}{{ $value = toJson $value }}{{ end }}
{{- $value = ternary "" (toString $value) (kindIs "invalid" $value) }}
{{- if $value }}
- name: {{ index . 1 }}
  value: {{ tpl $value $root | quote }}
{{- end }}
{{- end }}

{{/* Gates as Name=true,Name=false in the order of their names; those that are no gates any more are left out, and those that are refused unless they are shut. */}}
{{- define "plimsoll.gates" -}}
{{- $gates := list }}
{{- range $key, $open := omit . "drift" "driftEnabled" "terminateFirstDrift" "terminateFirstRepair" "podDeletionCostManagement" "draNVIDIAGPU" "draEFA" "rebootForRepair" }}
{{- if not (kindIs "invalid" $open) }}
{{- $name := printf "%s%s" (substr 0 1 $key | upper) (substr 1 -1 $key) }}
{{- $gates = append $gates (printf "%s=%v" $name $open) }}
{{- end }}
{{- end }}
{{- join "," $gates }}
{{- end }}

{{- define "plimsoll.environment" -}}
{{- $settings := .Values.settings }}
- name: SYSTEM_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: MEMORY_LIMIT
  valueFrom:
    resourceFieldRef:
      containerName: {{ .Values.controller.containerName }}
      divisor: "0"
      resource: limits.memory
- name: CPU_REQUESTS
  valueFrom:
    resourceFieldRef:
      containerName: {{ .Values.controller.containerName }}
      divisor: 1m
      resource: requests.cpu
{{- range $pair := list
  (list "METRICS_PORT" .Values.controller.metrics.port)
  (list "HEALTH_PROBE_PORT" .Values.controller.healthProbe.port)
  (list "LOG_LEVEL" .Values.logLevel)
  (list "LOG_OUTPUT_PATHS" (join "," .Values.logOutputPaths))
  (list "LOG_ERROR_OUTPUT_PATHS" (join "," .Values.logErrorOutputPaths))
  (list "LEADER_ELECTION_NAME" $settings.leaderElectionName)
  (list "BATCH_MAX_DURATION" $settings.batchMaxDuration)
  (list "BATCH_IDLE_DURATION" $settings.batchIdleDuration)
  (list "PREFERENCE_POLICY" $settings.preferencePolicy)
  (list "MIN_VALUES_POLICY" $settings.minValuesPolicy)
  (list "IGNORE_DRA_REQUESTS" $settings.ignoreDRARequests)
  (list "LEGACY_NODE_REPAIR" $settings.legacyNodeRepair)
  (list "DISABLE_CLUSTER_STATE_OBSERVABILITY" $settings.disableClusterStateObservability)
  (list "SCHEDULER_CONFIG" $settings.schedulerConfig)
  (list "FEATURE_GATES" (include "plimsoll.gates" (default (dict) $settings.featureGates)))
  (list "CLUSTER_NAME" $settings.clusterName)
  (list "CLUSTER_ENDPOINT" $settings.clusterEndpoint)
  (list "CLUSTER_CA_BUNDLE" $settings.clusterCABundle)
  (list "INTERRUPTION_QUEUE" $settings.interruptionQueue)
  (list "ISOLATED_VPC" $settings.isolatedVPC)
  (list "EKS_CONTROL_PLANE" $settings.eksControlPlane)
  (list "VM_MEMORY_OVERHEAD_PERCENT" $settings.vmMemoryOverheadPercent)
  (list "RESERVED_ENIS" $settings.reservedENIs)
  (list "DISABLE_DRY_RUN" $settings.disableDryRun)
  (list "ENABLE_ZONAL_SHIFT" $settings.enableZonalShift)
  (list "AMI_REFRESH_INTERVAL" $settings.amiRefreshInterval)
  (list "SUBNET_REFRESH_INTERVAL" $settings.subnetRefreshInterval)
  (list "SECURITY_GROUP_REFRESH_INTERVAL" $settings.securityGroupRefreshInterval)
  (list "AWS_FEATURE_GATES" (include "plimsoll.gates" (default (dict) $settings.awsFeatureGates)))
}}
{{- include "plimsoll.variable" (prepend $pair $) }}
{{- end }}
{{- with .Values.controller.env }}
{{ toYaml . }}
{{- end }}
{{- end }}
