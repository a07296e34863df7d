import type { GenerationRequest, Message } from '../endpoints/endpoint.ts';
import type { Media } from '../media/media-urls.ts';
import { type Conversation, type Dataset, turnInOrder } from './dataset.ts';
import { entryOrder, filePlanSha256, longestOutput, requireEntries, type FileDatasetOptions } from './file-dataset.ts';
import { readLines } from './input-lines.ts';
import { RowMedia } from './with-media.ts';
import { InputRow, textOf } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';

/** A user's turn of a conversation in a file. */
interface PlannedTurn {
  /** The messages before it since the previous user turn: a system prompt, or a response that replaces the server's. */
  readonly before: readonly Message[];
  readonly text: string;
  readonly media: Media;
  readonly outputTokens: number | null;
  readonly delaySeconds: number;
}

/** Settings for a file's conversations, besides the file. */
interface MultiTurnOptions extends FileDatasetOptions {
  /** `--session-delay-ratio`: the file's delays are multiplied by it. */
  readonly delayRatio: number;
}

/**
 * `multi_turn`: each line is a conversation, `{"session_id", "turns": [{"text", "delay" (ms), "output_length",
 * "role"}]}`; lines with the same `session_id` continue a conversation. Turns of the role `assistant` replace the
 * server's responses in the history. Throws a `ConfigurationError`.
 */
export async function multiTurn(options: MultiTurnOptions): Promise<Dataset> {
  const { texts, sha256 } = await readLines(options.file);
  const sessions = new Map<string, { readonly row: InputRow; readonly turns: InputRow[] }>();
  for (const text of requireEntries(texts, options.file)) {
    const row = InputRow.parse(options.file, text);
    const id = row.string('session_id') ?? `line ${text.line}`;
    const session = sessions.get(id) ?? { row, turns: [] };
    session.turns.push(...row.rows('turns'));
    sessions.set(id, session);
  }
  const media = new RowMedia(options.file);
  const conversations: (readonly PlannedTurn[])[] = [];
  for (const { row, turns } of sessions.values())
    conversations.push(await plannedTurns(row, turns, options.delayRatio, media));
  const order = entryOrder(options.strategy, conversations.length, options.seed);
  const conversation = (phase: string, position: number): Conversation =>
    conversationOf(conversations[order(phase, position)] ?? [], options);
  return {
    planSha256: filePlanSha256('multi_turn', sha256, options, { delayRatio: options.delayRatio, ...media.plan }),
    fileSha256: sha256,
    ...media.facts,
    size: conversations.length,
    longestOutputTokens: longestOutput(
      conversations.flat().map(({ outputTokens }) => outputTokens),
      options,
    ),
    request: (phase, position) => conversation(phase, position).request(0, []),
    conversation,
  };
}

async function plannedTurns(
  row: InputRow,
  turns: readonly InputRow[],
  delayRatio: number,
  media: RowMedia,
): Promise<readonly PlannedTurn[]> {
  const planned: PlannedTurn[] = [];
  let before: Message[] = [];
  for (const turn of turns) {
    if (turn.has('timestamp')) turn.refuse('timestamp is not supported in a conversation: use delay');
    const role = turn.string('role') ?? 'user';
    const content = textOf(turn);
    if (role === 'system' || role === 'assistant') {
      turn.onlyText();
      before.push({ role, content });
    } else if (role === 'user') {
      const delay_ms = turn.milliseconds('delay') ?? 0;
      const outputTokens = turn.tokens('output_length') ?? turn.tokens('max_tokens');
      const delaySeconds = (delay_ms / 1000) * delayRatio;
      planned.push({ before, text: content, media: await media.read(turn.media()), outputTokens, delaySeconds });
      before = [];
    } else turn.refuse(`role is '${role}' and must be one of user, assistant, system`);
  }
  if (planned.length === 0) row.refuse('the conversation has no user turn');
  return planned;
}

function conversationOf(turns: readonly PlannedTurn[], options: FileDatasetOptions): Conversation {
  return {
    requests: turns.length,
    place: (turn) => turnInOrder(turn, turns[turn]?.delaySeconds ?? 0),
    request: (turn, responses) => turnRequest(turns.slice(0, turn + 1), responses, options),
  };
}

function turnRequest(
  turns: readonly PlannedTurn[],
  responses: Parameters<Conversation['request']>[1],
  { outputTokens, tokenizer }: FileDatasetOptions,
): GenerationRequest {
  const history: Message[] = [];
  turns.forEach(({ before, text, media }, i) => {
    const isAnswered = before.some(({ role }) => role === 'assistant');
    const response = responses[i - 1] ?? '';
    if (i > 0 && !isAnswered && response !== '') history.push({ role: 'assistant', content: response });
    history.push(...before);
    if (i < turns.length - 1) history.push({ role: 'user', content: text, ...media });
  });
  const last = turns.at(-1);
  const { text: prompt = '', media = {} } = last ?? {};
  const count = (text: string): number => tokenizer?.count(text) ?? 0;
  const input_tokens = history.reduce((tokens, message) => tokens + count(message.content), count(prompt));
  return {
    prompt,
    max_tokens: last?.outputTokens ?? outputTokens ?? DEFAULT_OUTPUT_TOKENS,
    ...(history.length === 0 ? {} : { history }),
    ...media,
    ...(tokenizer === null ? {} : { input_tokens }),
  };
}
