import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { Dataset } from './dataset.ts';
import { fileDataset, longestOutput, requireEntries } from './file-dataset.ts';
import type { FileDatasetOptions } from './file-dataset.ts';
import { readElements } from './input-elements.ts';
import { InputRow } from './row.ts';

/** Limits of vLLM's benchmark for this dataset, in tokens. */
const SHORTEST = 4;
const MAX_PROMPT = 1024;
const MAX_BOTH = 2048;

interface Pair {
  readonly prompt: string;
  readonly input_tokens: number | null;
  readonly max_tokens: number;
}

/**
 * `sharegpt`: the first question of each conversation, and an output as long as the recorded answer (or `--osl`), by
 * the rules of `vllm bench serve`: conversations of one turn are skipped, and with a tokenizer those that are shorter
 * than 4 tokens or longer than 1024, or 2048 with the response. Throws a `ConfigurationError`.
 */
export async function shareGpt(options: FileDatasetOptions): Promise<Dataset> {
  const { file, tokenizer, outputTokens } = options;
  if (tokenizer === null && outputTokens === null)
    throw new ConfigurationError(
      'a ShareGPT file requires --tokenizer, which counts the tokens of its answers, or --osl',
    );
  const { texts, sha256 } = await readElements(file);
  const entries = requireEntries(texts, file).flatMap((text) => pairOf(InputRow.parse(file, text), options) ?? []);
  if (entries.length === 0)
    throw new ConfigurationError(`${file}: none of its ${texts.length} conversations has a supported length`);
  return fileDataset(
    'sharegpt',
    { entries, sha256 },
    options,
    ({ prompt, max_tokens, input_tokens }) => ({
      prompt,
      max_tokens,
      ...(input_tokens === null ? {} : { input_tokens }),
    }),
    longestOutput(
      entries.map((entry) => entry.max_tokens),
      options,
    ),
  );
}

function pairOf(row: InputRow, { tokenizer, outputTokens }: FileDatasetOptions): Pair | null {
  const key = row.has('conversations') ? 'conversations' : 'conversation';
  const { [key]: turns } = row.json;
  if (!Array.isArray(turns)) row.refuse('conversations is missing: each entry must have a list of turns');
  if (turns.length < 2) return null;
  const [question, response] = row.rows(key);
  const prompt = question === undefined ? '' : turnText(question);
  const completion = response === undefined ? '' : turnText(response);
  if (prompt === '') return null;
  if (tokenizer === null) return { prompt, input_tokens: null, max_tokens: outputTokens ?? 0 };
  const input_tokens = tokenizer.count(prompt);
  const max_tokens = outputTokens ?? tokenizer.count(completion);
  if (input_tokens < SHORTEST || (outputTokens === null && max_tokens < SHORTEST)) return null;
  if (input_tokens > MAX_PROMPT || input_tokens + max_tokens > MAX_BOTH) return null;
  return { prompt, input_tokens, max_tokens };
}

/** `value` as in the original, `content` as in files of messages; an empty turn counts as a turn. */
function turnText(turn: InputRow): string {
  const { value, content } = turn.json;
  if (typeof value === 'string') return value;
  return typeof content === 'string' ? content : turn.refuse('value must be a string');
}
