/** Series that count the same as the client: counters, or the `_count` of histograms. */
export interface ServerCount {
  readonly family: string;
  /** Only series with these labels count. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** `client`: by what the client counts the same tokens. Chunks only where the server sends each token by itself. */
export interface TokenCount extends ServerCount {
  readonly client: 'usage' | 'chunks';
}

/** A server that runs and serves a model. */
export interface RunningServer {
  /** What to print: a name and an address or a path, one pair per line. */
  readonly addresses: readonly (readonly [name: string, address: string])[];
  /** `--url` of `llmbench run`. */
  readonly url: string;
  readonly model: string;
  /** Addresses of all metrics pages. */
  readonly metrics: readonly string[];
  /** Resolves when a process of the server has ended by itself, with its name and where its log is. */
  readonly ended: Promise<string>;
  /** Ends all its processes. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The folder into which it was installed. */
  readonly folder: string;
  /** The port of its API; further ports are free ones. */
  readonly port: number;
  /** More arguments for the server's own command. */
  readonly args: readonly string[];
}

/** A real server that runs on a machine without a GPU. */
export interface RealServer {
  readonly name: string;
  /** One line about what is real in it. */
  readonly description: string;
  /** The catalogs of its metrics, and the release whose families they state. */
  readonly catalogs: readonly string[];
  readonly release: string;
  /** More arguments that `llmbench run` needs for it. */
  readonly runArgs: readonly string[];
  /** Its count of requests that the client counts as ok. */
  readonly requests: ServerCount;
  /** Its count of generated tokens; null when it has none. */
  readonly outputTokens: TokenCount | null;
  /** Its API reads messages of sessions with agents; absent: they are not sent. */
  readonly sessions?: true;
  /** Downloads and builds what is missing in `folder`. */
  install(folder: string): Promise<void>;
  /** Starts it and resolves when it answers. */
  start(options: StartOptions): Promise<RunningServer>;
}
