/** What one request asks for; the text is made by the dataset. */
export interface GenerationRequest {
  readonly prompt: string;
  /** Always sent, so that no answer is longer than was planned. */
  readonly max_tokens: number;
}

/** What is the same for every request of a run. */
export interface GenerationOptions {
  readonly model: string;
  /** Sent as they are: temperature, seed, ignore_eos, min_tokens, … */
  readonly sampling: Readonly<Record<string, number | string | boolean | null>>;
  /** Asks for a last event with the server's token counts; off only for servers that refuse the field. */
  readonly includeUsage: boolean;
}

/** The server's own token counts; null where it does not tell. */
export interface Usage {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cached_tokens: number | null;
}

/** What one event of a stream says. */
export interface EventMeaning {
  /** It carries generated output: text, refusal, reasoning or a part of a tool call. */
  readonly content: boolean;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  /** The server's message when the event is an error. */
  readonly error: string | null;
}

/** One API of inference servers: how a request is written and what the events of its answer mean. */
export interface Endpoint {
  /** The name in `--endpoint-type`. */
  readonly type: string;
  readonly path: string;
  body(request: GenerationRequest, options: GenerationOptions): string;
  /** The meaning of an event's JSON; null when it is not of this protocol. */
  interpret(event: unknown): EventMeaning | null;
  /**
   * Keys whose values differ between events that mean the same. `interpret` depends on a string under them only by its
   * being empty or not, and on a number under them not at all; so events may be recognised without parsing them.
   */
  readonly variableKeys: ReadonlySet<string>;
}
