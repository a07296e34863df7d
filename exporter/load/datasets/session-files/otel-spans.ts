import { isObject, type JsonObject } from '../../endpoints/endpoint.ts';
import type { InputRow } from '../row.ts';
import { instant_s, type RecordedCall, sessionRequests } from './recorded-calls.ts';

/** Operations that generate text. */
const GENERATION = ['chat', 'text_completion', 'generate_content'];

/** A span of a call of a model. */
interface ModelCall extends RecordedCall {
  readonly messages: readonly JsonObject[];
  readonly span: InputRow;
}

/**
 * Spans of models by OpenTelemetry's conventions for generative AI (semantic-conventions v1.41.1, docs/gen-ai, with the
 * messages on span attributes), in OTLP's JSON encoding, or in lists of spans as inference-perf reads them
 * (docs/otel_trace_replay.md at 7de5ef2). A conversation, or else a trace, is a session; a span of `invoke_agent` makes an
 * agent of what it contains. Throws a `ConfigurationError` of the row.
 */
export function otelSessions(documents: readonly InputRow[]): readonly InputRow[] {
  const spans = documents.flatMap(spansOf).map((span) => ({ span, attributes: attributesOf(span.json.attributes) }));
  const byId = new Map(spans.map((each) => [idOf(each.span, 'spanId', 'span_id'), each]));
  const sessions = new Map<string, ModelCall[]>();
  for (const { span, attributes } of spans) {
    if (!GENERATION.includes(String(attributes['gen_ai.operation.name']))) continue;
    const agents: string[] = [];
    const passed = new Set<string>();
    // In a damaged file a span may be within itself.
    for (let id = idOf(span, 'parentSpanId', 'parent_span_id'); id !== null && !passed.has(id);) {
      passed.add(id);
      const parent = byId.get(id);
      if (parent?.attributes['gen_ai.operation.name'] === 'invoke_agent') agents.unshift(id);
      id = parent === undefined ? null : idOf(parent.span, 'parentSpanId', 'parent_span_id');
    }
    const [outermost] = agents;
    // Further turns of a conversation are traces of their own, in which the outermost agent is the same one.
    if (outermost !== undefined) agents[0] = agentOf(byId.get(outermost)?.attributes ?? {}) ?? outermost;
    const { 'gen_ai.conversation.id': conversation } = attributes;
    const session = typeof conversation === 'string' ? conversation : (idOf(span, 'traceId', 'trace_id') ?? '');
    const calls = sessions.get(session) ?? [];
    sessions.set(session, calls);
    calls.push(callOf(span, attributes, agents));
  }
  const ordered = [...sessions].map(([session_id, calls]) => {
    const requests = sessionRequests(continued(calls.sort((a, b) => a.start_s - b.start_s)));
    const { span, start_s } = calls[0] as ModelCall;
    return { span, start_s, session_id, requests };
  });
  ordered.sort((a, b) => a.start_s - b.start_s);
  const origin_s = ordered[0]?.start_s ?? 0;
  return ordered.map(({ span, start_s, ...session }) =>
    span.with({ ...session, start_ms: Math.round((start_s - origin_s) * 1e6) / 1e3 }),
  );
}

function spansOf(document: InputRow): readonly InputRow[] {
  if (document.has('spans')) return document.rows('spans');
  return document
    .rows('resourceSpans')
    .flatMap((resource) => resource.listed('scopeSpans'))
    .flatMap((scope) => scope.listed('spans'));
}

function idOf({ json }: InputRow, ...names: readonly string[]): string | null {
  const ids = names.map((name) => json[name]).filter((value) => typeof value === 'string');
  return ids.find((id) => id !== '') ?? null;
}

const agentOf = (attributes: JsonObject): string | null => {
  const id = attributes['gen_ai.agent.id'] ?? attributes['gen_ai.agent.name'];
  return typeof id === 'string' ? id : null;
};

/** Of OTLP's list of typed values, or of an object. */
function attributesOf(attributes: unknown): JsonObject {
  if (!Array.isArray(attributes)) return isObject(attributes) ? attributes : {};
  return Object.fromEntries(attributes.filter(isObject).map(({ key, value }) => [String(key), valueOf(value)]));
}

function valueOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { arrayValue, kvlistValue, intValue } = value;
  if (isObject(arrayValue)) return Array.isArray(arrayValue.values) ? arrayValue.values.map(valueOf) : [];
  if (isObject(kvlistValue)) return attributesOf(kvlistValue.values);
  // 64-bit integers are text in JSON.
  return intValue === undefined ? Object.values(value)[0] : Number(intValue);
}

function callOf(span: InputRow, attributes: JsonObject, agents: readonly string[]): ModelCall {
  const input = listIn(attributes['gen_ai.input.messages']);
  if (input === null)
    span.refuse('gen_ai.input.messages is missing: the spans must be recorded with the content of messages');
  const instructions = listIn(attributes['gen_ai.system_instructions']);
  const system = instructions === null ? [] : messagesOf({ role: 'system', parts: instructions }, span);
  const messages = [...system, ...input.flatMap((message) => messagesOf(message, span))];
  const definitions = listIn(attributes['gen_ai.tool.definitions']);
  const length = attributes['gen_ai.usage.output_tokens'] ?? attributes['gen_ai.request.max_tokens'];
  const start_s = timeOf(span, 'startTimeUnixNano', 'start_time');
  return {
    span,
    agents,
    start_s,
    end_s: Math.max(start_s, timeOf(span, 'endTimeUnixNano', 'end_time')),
    isOfTool: messages.at(-1)?.role === 'tool',
    messages,
    fields: {
      ...(typeof length === 'number' && length > 0 ? { output_length: length } : {}),
      ...(definitions === null || definitions.length === 0 ? {} : { tools: definitions.map(toolOf) }),
    },
  };
}

function timeOf(span: InputRow, nanoseconds: string, iso: string): number {
  const { [nanoseconds]: ns, [iso]: text } = span.json;
  if (ns !== undefined && Number(ns) > 0) return Number(ns) / 1e9;
  return typeof text === 'string' ? instant_s(text, span) : span.refuse(`${nanoseconds} is missing`);
}

/** Null: neither a list nor its JSON text. */
function listIn(value: unknown): readonly JsonObject[] | null {
  let list = value;
  if (typeof value === 'string')
    try {
      list = JSON.parse(value);
    } catch {
      return null;
    }
  return Array.isArray(list) && list.every(isObject) ? list : null;
}

/** A message in the form of chat completions, of which each result of a tool is one. Reasoning is not sent again. */
function messagesOf({ role, parts, ...message }: JsonObject, span: InputRow): readonly JsonObject[] {
  if (!Array.isArray(parts)) return [{ role, ...message }];
  const texts: string[] = [];
  const tool_calls: JsonObject[] = [];
  const results: JsonObject[] = [];
  for (const part of parts.filter(isObject)) {
    const { type, id, content, name, arguments: given, response } = part;
    if (type === 'text') texts.push(String(content));
    else if (type === 'tool_call')
      tool_calls.push({ id: id ?? name, type: 'function', function: { name, arguments: textOf(given ?? {}) } });
    else if (type === 'tool_call_response')
      results.push({ role: 'tool', tool_call_id: id ?? name ?? 'call', content: textOf(response ?? '') });
    else if (type !== 'reasoning')
      span.refuse(`a message has a part of the type '${String(type)}': text and tools only`);
  }
  const isOnlyResults = texts.length + tool_calls.length === 0 && results.length > 0;
  const own = { role, content: texts.join('\n'), ...(tool_calls.length === 0 ? {} : { tool_calls }) };
  return isOnlyResults ? results : [own, ...results];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const toolOf = ({ type, ...definition }: JsonObject): JsonObject =>
  isObject(definition.function) ? { type, ...definition } : { type, function: definition };

/**
 * A request whose messages begin with those of an earlier one of its agent, and an answer, continues that one: then the
 * server's answer can stand in its place.
 */
function continued(calls: readonly ModelCall[]): readonly RecordedCall[] {
  const texts = calls.map(({ messages }) => messages.map((message) => JSON.stringify(message)));
  const answers: (string | undefined)[] = [];
  const before = calls.map(({ agents, messages }, i): number | null => {
    const own = texts[i] ?? [];
    for (let earlier = i - 1; earlier >= 0; earlier--) {
      const shared = texts[earlier] ?? [];
      const answer = own[shared.length] ?? '';
      const fits =
        calls[earlier]?.agents.join() === agents.join() &&
        own.length > shared.length + 1 &&
        messages[shared.length]?.role === 'assistant' &&
        shared.every((text, at) => text === own[at]) &&
        (answers[earlier] ?? answer) === answer;
      if (!fits) continue;
      answers[earlier] = answer;
      return earlier;
    }
    return null;
  });
  return calls.map(({ messages, fields, ...call }, i) => {
    const earlier = before[i] ?? null;
    const answer = answers[i];
    const known = earlier === null ? 0 : (texts[earlier]?.length ?? 0) + 1;
    const own = {
      ...fields,
      ...(earlier === null ? {} : { continues: String(earlier) }),
      messages: messages.slice(known),
      ...(answer === undefined ? {} : { answer: JSON.parse(answer) as JsonObject }),
    };
    return { ...call, fields: own };
  });
}
