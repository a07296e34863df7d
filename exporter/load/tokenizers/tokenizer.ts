/** Counts the tokens of a text as a model's tokenizer does, without special tokens and without a chat template. */
export interface Tokenizer {
  /** The name that was requested: a path, a name on the hub or an encoding. */
  readonly name: string;
  /** SHA-256 (hex) of its definition, or for a built-in one its name and version: part of the plan. */
  readonly identity: string;
  count(text: string): number;
}
