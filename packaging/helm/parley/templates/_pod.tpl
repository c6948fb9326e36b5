{{/* The pod of a gateway, with a data directory or as a node of a cluster. */}}
{{- define "parley.pod" -}}
metadata:
  labels:
    {{- include "parley.selector" . | nindent 4 }}
  annotations:
    # New settings start a new pod.
    checksum/config: {{ include (print $.Template.BasePath "/configmap.yaml") . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  # Its PARLEY_* variables would be those of the Service otherwise.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: parley
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      {{- if .Values.cluster.engineSecret }}
      lifecycle:
        preStop:
          exec:
            # Until the Service sends no new requests here.
            command: [sleep, "5"]
      {{- end }}
      env:
        - name: PARLEY_CONFIG
          value: /etc/parley/parley.yaml
        # The image sets these for runs without a file; here the file decides.
        - name: PARLEY_LISTEN
          value: 0.0.0.0:8080
        - name: PARLEY_DATA
          value: /var/lib/parley/data
      {{- with .Values.existingSecret }}
      envFrom:
        - secretRef:
            name: {{ . }}
      {{- end }}
      ports:
        - name: http
          containerPort: 8080
      startupProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 2
        failureThreshold: 60
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 5
      livenessProbe:
        httpGet:
          path: /livez
          port: http
        periodSeconds: 10
        failureThreshold: 6
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        {{- if .Values.cluster.engineSecret }}
        - name: engine
          mountPath: /etc/parley-engine
          readOnly: true
        {{- else }}
        - name: data
          mountPath: /var/lib/parley
        {{- end }}
        - name: config
          mountPath: /etc/parley
          readOnly: true
        - name: tmp
          mountPath: /tmp
  {{- if .Values.cluster.engineSecret }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "parley.selector" . | nindent 10 }}
  {{- end }}
  volumes:
    {{- with .Values.cluster.engineSecret }}
    - name: engine
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    - name: config
      configMap:
        name: {{ include "parley.name" . }}
    - name: tmp
      emptyDir: {}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
