import { isObject } from './endpoints/json-object.ts';
import type { Transport } from './transport.ts';
import { ExchangeError, wholeAnswer } from './whole-answer.ts';

/** The ids that `/v1/models` lists; null when the server has no such list. */
export async function modelList(
  transport: Transport,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[] | null> {
  try {
    const answer = await wholeAnswer(transport, { method: 'GET', path, headers, body: null }, 10);
    const list: unknown = JSON.parse(answer.body);
    if (!isObject(list) || !Array.isArray(list.data)) return null;
    return (list.data as unknown[]).flatMap((model) =>
      isObject(model) && typeof model.id === 'string' ? [model.id] : [],
    );
  } catch (error) {
    // The list only makes an error message better.
    if (error instanceof ExchangeError || error instanceof SyntaxError) return null;
    throw error;
  }
}
