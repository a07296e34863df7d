/**
 * How an option of another benchmark tool is given to llmbench. Texts are Markdown with flags in backticks; `VALUE` stands
 * for the given value.
 */
export type OptionAnswer =
  /** Accepted: it means the same as our option of this name. */
  | { readonly kind: 'accepted'; readonly option: string; readonly note: string | null }
  /** Our option of the same name means something else. */
  | { readonly kind: 'differs'; readonly text: string }
  /** Not accepted: what to use instead. */
  | { readonly kind: 'instead'; readonly text: string }
  /** No counterpart, and why. */
  | { readonly kind: 'none'; readonly text: string };

/** Options with one answer, with spaces between them, and that answer. */
export type AnsweredOptions = readonly (readonly [flags: string, answer: OptionAnswer])[];

/** Another benchmark tool. */
export interface Peer {
  readonly name: string;
  /** Its command, and the version that its options are from. */
  readonly command: string;
  readonly version: string;
  /** All of its options. */
  readonly options: AnsweredOptions;
}

export const accepted = (option: string, note: string | null = null): OptionAnswer => ({
  kind: 'accepted',
  option,
  note,
});
export const differs = (text: string): OptionAnswer => ({ kind: 'differs', text });
export const instead = (text: string): OptionAnswer => ({ kind: 'instead', text });
export const none = (text: string): OptionAnswer => ({ kind: 'none', text });

/** A field of the request, which any API may have. */
export const field = (name: string): OptionAnswer => instead(`use \`--extra-inputs ${name}:VALUE\``);
