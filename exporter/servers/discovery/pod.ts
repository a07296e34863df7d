/** What the discovery reads of a pod, by the names of the Kubernetes API (v1). */
export interface Pod {
  readonly metadata?: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: unknown;
  };
  readonly spec?: {
    readonly containers?: readonly PodContainer[];
    /** Some are sidecars, such as the routing proxy of llm-d. */
    readonly initContainers?: readonly PodContainer[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

export interface PodContainer {
  readonly name?: string;
  readonly image?: string;
  /** Of an init container: `Always` makes it a sidecar; another one ends before the pod runs. */
  readonly restartPolicy?: string;
  readonly ports?: readonly PodPort[];
}

export interface PodPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}
