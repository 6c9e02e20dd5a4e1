{{/* Values that the schema cannot tell apart, and keys of older versions that must not be passed over. */}}

{{- define "plimsoll.refusals" -}}
{{- $settings := .Values.settings }}
{{- with $settings.aws }}
{{- $gone := list "defaultInstanceProfile" "enablePodENI" "enableENILimitedPodDensity" "tags" "assumeRoleARN" "assumeRoleDuration" }}
{{- $words := list }}
{{- range $key := keys . | sortAlpha }}
{{- if has $key $gone }}{{ $words = append $words (printf "settings.aws.%s has no successor" $key) }}
{{- else if eq $key "interruptionQueueName" }}{{ $words = append $words "settings.aws.interruptionQueueName is settings.interruptionQueue" }}
{{- else }}{{ $words = append $words (printf "settings.aws.%s is settings.%s" $key $key) }}
{{- end }}
{{- end }}
{{- fail (printf "settings.aws is no key any more, what was below it moved up one level: %s" (join "; " $words)) }}
{{- end }}
{{- range $pair := list
  (list (hasKey $settings "interruptionQueueName") "settings.interruptionQueueName" "settings.interruptionQueue")
  (list (hasKey .Values.controller "logLevel") "controller.logLevel" "logLevel")
  (list (hasKey .Values.controller "outputPaths") "controller.outputPaths" "logOutputPaths")
  (list (hasKey .Values.controller "errorOutputPaths") "controller.errorOutputPaths" "logErrorOutputPaths")
}}
{{- if index $pair 0 }}
{{- fail (printf "%s is no key of this chart; did you mean %s?" (index $pair 1) (index $pair 2)) }}
{{- end }}
{{- end }}
{{- if and (eq .Values.provider "aws") (not (tpl (toString (default "" $settings.clusterName)) $)) }}
{{- fail "settings.clusterName is empty; expected the name of the cluster, by which the provider aws tags what it makes" }}
{{- end }}
{{- if and (eq .Values.provider "aws") (eq (toString $settings.enableZonalShift) "true") }}
{{- fail "settings.enableZonalShift is true; expected false: zonal shifts are not followed, and a zone is avoided by a requirement of the NodePool or by the subnets of the class" }}
{{- end }}
{{- $gates := default (dict) $settings.featureGates }}
{{- $ofAws := default (dict) $settings.awsFeatureGates }}
{{- range $row := list
  (list $settings.enableDRA "enableDRA" "no node is planned for device claims")
  (list $gates.terminateFirstDrift "featureGates.terminateFirstDrift" "a drifted node is replaced once there is room for its pods elsewhere; give its NodePool room for one node more, or drain the node yourself")
  (list $gates.terminateFirstRepair "featureGates.terminateFirstRepair" "nodes are repaired as by Karpenter's legacy controller, which ends a node before it is replaced")
  (list $gates.podDeletionCostManagement "featureGates.podDeletionCostManagement" "costs of deletion are written on no pod; write controller.kubernetes.io/pod-deletion-cost yourself")
  (list $ofAws.draNVIDIAGPU "awsFeatureGates.draNVIDIAGPU" "no node is planned for device claims")
  (list $ofAws.draEFA "awsFeatureGates.draEFA" "no node is planned for device claims")
  (list $ofAws.rebootForRepair "awsFeatureGates.rebootForRepair" "an unhealthy node is replaced and not rebooted")
}}
{{- if eq (toString (index $row 0)) "true" }}
{{- fail (printf "settings.%s is true; expected false: %s" (index $row 1) (index $row 2)) }}
{{- end }}
{{- end }}
{{- if and (eq (toString $gates.nodeRepair) "true") (eq (toString $settings.legacyNodeRepair) "false") }}
{{- fail "settings.legacyNodeRepair is false while settings.featureGates.nodeRepair is true; expected true: nodes are repaired at once and past budgets, as by Karpenter's legacy controller, or not at all" }}
{{- end }}
{{- $epoch := toDate "2006-01-02 MST" "1970-01-01 UTC" }}
{{- range $key := list "amiRefreshInterval" "subnetRefreshInterval" "securityGroupRefreshInterval" }}
{{- with get $settings $key }}
{{- if lt (dateModify . $epoch | unixEpoch | int64) 60 }}
{{- fail (printf "settings.%s is %q; expected at least 1m" $key .) }}
{{- end }}
{{- end }}
{{- end }}
{{- with $settings.clusterEndpoint }}
{{- $endpoint := tpl . $ }}
{{- if not (regexMatch "^https?://[^/]+" $endpoint) }}
{{- fail (printf "settings.clusterEndpoint is %q; expected an absolute URL, such as \"https://%s\"" $endpoint $endpoint) }}
{{- end }}
{{- end }}
{{- end }}
