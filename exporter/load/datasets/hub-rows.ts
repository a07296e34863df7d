import { ownValue } from '../../../core/text/nearest-names.ts';
import { isObject, type JsonObject } from '../endpoints/endpoint.ts';
import type { RowMediaNames } from './row.ts';

/**
 * Addresses of the files in a row of the hub's rows API: an image is `{"src", "height", "width"}`, audio a list of the
 * same clip in several formats, `[{"src", "type"}]`.
 */
export function mediaCells(row: JsonObject): RowMediaNames {
  const cells = Object.values(row);
  const images = cells.flatMap((cell) => (Array.isArray(cell) ? cell : [cell]).flatMap((each) => imageOf(each) ?? []));
  const audio = cells.flatMap((cell) => (Array.isArray(cell) ? (audioOf(cell[0]) ?? []) : []));
  return { images, audio };
}

const imageOf = (cell: unknown): string | null =>
  isObject(cell) && typeof cell.src === 'string' && typeof cell.height === 'number' ? cell.src : null;

const audioOf = (cell: unknown): string | null =>
  isObject(cell) && typeof cell.src === 'string' && /^audio\//.test(String(cell.type)) ? cell.src : null;

/** Columns that prompts usually have, the more specific ones first. */
const PROMPT_COLUMNS = [
  'prompt',
  'question',
  'instruction',
  'problem',
  'query',
  'text',
  'input',
  'content',
  'turns',
] as const;
/** A row with one of these is one of the formats that files may have. */
const FORMAT_COLUMNS = ['conversations', 'conversation', 'input_length', 'chat_id'] as const;

/**
 * A row as a line of a file: unchanged if it is of a known format, else its prompt; with `media` (paths) a prompt or a
 * conversation with them. Undefined: it has none in the column, or in those that prompts usually have.
 */
export function promptRow(row: JsonObject, column: string | null, media: RowMediaNames): JsonObject | undefined {
  const hasMedia = media.images.length > 0 || media.audio.length > 0;
  if (column === null) {
    const messages = row.messages ?? row.conversations ?? row.conversation;
    if (hasMedia && Array.isArray(messages)) return { turns: turnsWith(messages.filter(isObject), media) };
    if (FORMAT_COLUMNS.some((name) => row[name] != null)) return row;
    if (Array.isArray(row.messages)) return { conversation: (row.messages as unknown[]).filter(isNoSystemMessage) };
  }
  for (const name of column === null ? PROMPT_COLUMNS : [column]) {
    const value = row[name];
    const text = Array.isArray(value) ? (value as unknown[])[0] : value;
    if (typeof text === 'string' && text.trim() !== '') return { text, ...lists(media.images, media.audio) };
  }
  return undefined;
}

const isNoSystemMessage = (message: unknown): boolean => !isObject(message) || message.role !== 'system';

function lists(images: readonly string[], audios: readonly string[]): JsonObject {
  return { ...(images.length > 0 && { images }), ...(audios.length > 0 && { audios }) };
}

/** Names of who speaks, in the words of `multi_turn`. */
const ROLES: Readonly<Record<string, string>> = { human: 'user', gpt: 'assistant', model: 'assistant' };
/** Stands for an image in texts of LLaVA and others. */
const MARK = /<image>\n?/g;

/**
 * Turns of `multi_turn`: an image belongs to the message that has a mark or a part for it; those without one, and audio,
 * to the first message of the user.
 */
function turnsWith(messages: readonly JsonObject[], { images, audio }: RowMediaNames): readonly JsonObject[] {
  let next = 0;
  const turns = messages.map((message) => {
    const said = String(message.role ?? message.from);
    const { text, marks } = spoken(message.content ?? message.value);
    const theirs = images.slice(next, (next += marks));
    return { role: ownValue(ROLES, said) ?? said, text, images: theirs };
  });
  const rest = images.slice(next);
  const first = turns.findIndex(({ role }) => role === 'user');
  return turns.map(({ role, text, images: theirs }, i) => {
    const media = i === first ? lists([...theirs, ...rest], audio) : lists(theirs, []);
    return { role, text, ...(role === 'user' ? media : {}) };
  });
}

function spoken(content: unknown): { readonly text: string; readonly marks: number } {
  if (typeof content === 'string')
    return { text: content.replaceAll(MARK, '').trim(), marks: content.match(MARK)?.length ?? 0 };
  const parts = (Array.isArray(content) ? content : []).filter(isObject);
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  return { text: texts.join('\n').trim(), marks: parts.filter(({ type }) => type === 'image').length };
}
