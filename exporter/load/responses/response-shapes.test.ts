import { describe, expect, test } from '@jest/globals';
import type { ErrorReason } from '../../../core/run/record.ts';
import { chat, completions } from '../endpoints/openai.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { responses } from '../endpoints/responses.ts';
import { findingLines } from './response-findings.ts';
import { answeredBy, GENEROUS } from '../testing/one-request.ts';
import { httpChunk, LAST_CHUNK, readThenWait, sse, STREAM_HEAD } from '../testing/scripted-server.ts';

/** Streams of servers and gateways in the shapes of public reports, each with what is right. */
interface Shape {
  /** Where it was reported. */
  readonly seen: string;
  readonly events: readonly string[];
  readonly endpoint?: Endpoint;
  /** Why the request fails; absent: it is ok. */
  readonly reason?: ErrorReason;
  /** Chunks with content, and how many of them arrived before the first that is not reasoning (null: there is none). */
  readonly chunks: number;
  readonly before: number | null;
  /** [input, output, reasoning] as the record holds them. */
  readonly tokens?: readonly [number | null, number | null, number | null];
  /** What the model wrote, reasoning first, when text is kept. */
  readonly text?: string;
  readonly message?: string;
  /** What is said of it once per run. */
  readonly notes?: readonly string[];
  /** Output tokens in the record when the client counts them; absent: as `tokens`. */
  readonly counted?: number;
}

const DONE = sse('[DONE]');
const STOP = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const choice = (more: object): string =>
  sse({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, finish_reason: null, ...more }] });
const delta = (given: object): string => choice({ delta: given });
const last = (usage: unknown): string => sse({ choices: [], usage });
/** Four tokens for the prompt, and so many for the response. */
const counted = (output: number, more: object = {}): object => ({
  prompt_tokens: 4,
  completion_tokens: output,
  total_tokens: 4 + output,
  ...more,
});
const ended = (output: number): readonly string[] => [sse(STOP), last(counted(output)), DONE];
const twice = <T>(one: T): readonly T[] => [one, one];
const text = (value = ' tok'): string => delta({ content: value });
const typed = (type: string, more: object = {}): string => sse({ type, sequence_number: 1, ...more });
const completed = typed('response.completed', {
  response: { status: 'completed', output: [], usage: { input_tokens: 4, output_tokens: 4 } },
});
const FOUR = [4, 4, null] as const;
/** Two chunks of reasoning, then two of text. */
const THEN_TEXT = { chunks: 4, before: 2, tokens: FOUR, text: ' hm hm tok tok' };

/** Of each of 20 tokens by its position, and the end of a response that counts them and 100 of the prompt. */
const twenty = (event: (position: number) => string): string[] => Array.from({ length: 20 }, (_, i) => event(i));
const whole = (usage: object = {}): readonly string[] => [
  sse(STOP),
  last({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, ...usage }),
  DONE,
];
const TWENTY = [100, 20, null] as const;
const thinking = { type: 'thinking', thinking: [{ type: 'text', text: ' hm' }] };
const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

const SHAPES: Readonly<Record<string, Shape>> = {
  'an empty finish reason in each chunk, cut after 5 of 20': {
    seen: 'sgl-project/sglang#3912, ollama/ollama#4357',
    events: twenty(() => choice({ delta: { content: ' tok' }, finish_reason: '' })).slice(0, 5),
    reason: 'no_finish',
    chunks: 5,
    before: 0,
  },
  'content as a list of thinking parts, then text': {
    seen: 'BerriAI/litellm#16272',
    events: [...twenty((i) => delta({ content: i < 15 ? [thinking] : ' tok' })), ...whole()],
    chunks: 20,
    before: 15,
    tokens: TWENTY,
    text: ' hm'.repeat(15) + ' tok'.repeat(5),
  },
  'reasoning in reasoning_details only': {
    seen: 'openclaw/openclaw#66842, BerriAI/litellm#35021',
    events: [
      ...twenty((i) =>
        delta(
          i < 15
            ? { content: '', reasoning_details: [{ type: 'reasoning.text', text: ' hm', index: 0 }] }
            : { content: ' tok' },
        ),
      ),
      ...whole(),
    ],
    chunks: 20,
    before: 15,
    tokens: TWENTY,
    text: ' hm'.repeat(15) + ' tok'.repeat(5),
  },
  'an index that counts the chunks of the only choice': {
    seen: 'huggingface/text-generation-inference#1648, microsoft/foundry-local#263',
    events: [...twenty((index) => choice({ index, delta: { content: ' tok' } })), ...whole()],
    chunks: 20,
    before: 0,
    tokens: TWENTY,
  },
  'an index that is null': {
    seen: 'microsoft/foundry-local#263',
    events: [...twenty(() => choice({ index: null, delta: { content: ' tok' } })), ...whole()],
    chunks: 20,
    before: 0,
    tokens: TWENTY,
  },
  'reasoning tokens beside completion tokens, as the total shows': {
    seen: 'vercel/ai#12425',
    events: [
      ...twenty((i) => delta(i < 18 ? { reasoning_content: ' hm' } : { content: ' tok' })),
      ...whole({ completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 18 } }),
    ],
    chunks: 20,
    before: 18,
    tokens: [100, 20, 18],
  },
  'reasoning tokens that only the total includes': {
    seen: 'Clarifai/clarifai-python#978',
    events: [
      ...twenty((i) => delta(i < 18 ? { reasoning_content: ' hm' } : { content: ' tok' })),
      ...whole({ completion_tokens: 2 }),
    ],
    chunks: 20,
    before: 18,
    tokens: [100, 20, 18],
  },
  'an event of type ping after the first and the tenth chunk': {
    seen: 'sub2api#7097',
    events: twenty(() => delta({ content: ' tok' }))
      .flatMap((event, i) => (i === 0 || i === 9 ? [event, 'event: ping\ndata: {"type": "ping"}\n\n'] : [event]))
      .concat(whole()),
    chunks: 20,
    before: 0,
    tokens: TWENTY,
    notes: ['events: 2 events of no known meaning and without text were ignored: ping (2)'],
  },
  'a complete usage, then one of zeros': {
    seen: 'BerriAI/litellm#37087',
    events: [
      ...twenty(() => delta({ content: ' tok' })),
      sse({ ...STOP, usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }),
      last(zeros),
      DONE,
    ],
    chunks: 20,
    before: 0,
    tokens: TWENTY,
  },
  'a usage that is never counted up': {
    seen: 'sgl-project/sglang#7084',
    events: [...twenty(() => delta({ content: ' tok' })), ...whole({ completion_tokens: 1, total_tokens: 101 })],
    chunks: 20,
    before: 0,
    tokens: [100, null, null],
    counted: 80,
    notes: [
      'token counts: the usage of 1 response cannot be true (1 token in 20 chunks), so its output tokens are unknown; --tokenizer counts them on the client',
    ],
  },
  'reasoning_content is an object': {
    seen: 'envoyproxy/ai-gateway#1222',
    events: [...twice(delta({ role: 'assistant', reasoning_content: { text: ' hm' } })), ...twice(text()), ...ended(4)],
    ...THEN_TEXT,
  },
  'thinking blocks beside the same reasoning, and a signature at the end': {
    seen: 'strands-agents/harness-sdk#1789',
    events: [
      ...twice(
        delta({
          reasoning_content: ' hm',
          thinking_blocks: [{ type: 'thinking', thinking: ' hm', signature: null }],
          provider_specific_fields: { thinking_blocks: [{ type: 'thinking', thinking: ' hm', signature: null }] },
          content: '',
        }),
      ),
      delta({
        reasoning_content: '',
        thinking_blocks: [{ type: 'thinking', thinking: '', signature: 'EqQB' }],
        content: '',
      }),
      ...twice(text()),
      ...ended(4),
    ],
    ...THEN_TEXT,
  },
  'reasoning details beside the same reasoning, and encrypted ones': {
    seen: 'OpenRouterTeam/ai-sdk-provider#427',
    events: [
      ...twice(
        delta({
          content: '',
          reasoning: ' hm',
          reasoning_details: [{ type: 'reasoning.text', text: ' hm', format: 'anthropic-claude-v1', index: 0 }],
        }),
      ),
      delta({
        content: '',
        reasoning: null,
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'gAAAA', id: 'rs_1', format: 'openai-responses-v1' }],
      }),
      ...twice(text()),
      ...ended(4),
    ],
    ...THEN_TEXT,
  },
  'delta and the same message, with an index that grows': {
    seen: 'microsoft/foundry-local#263',
    events: [
      ...[' a', ' b', ' c', ' d'].map((content, index) =>
        sse({
          choices: [
            {
              index,
              delta: { role: 'assistant', content, tool_calls: [] },
              message: { role: 'assistant', content, tool_calls: [] },
              finish_reason: null,
            },
          ],
          usage: null,
          StreamEvent: null,
          error: null,
        }),
      ),
      sse({ choices: [{ index: 4, delta: { content: '' }, message: { content: '' }, finish_reason: 'stop' }] }),
      last(counted(4)),
      DONE,
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
    text: ' a b c d',
  },
  "the finish reason 'null' until the end, which does not come": {
    seen: 'PowerShell/AIShell#350',
    events: twice(choice({ delta: { content: ' tok' }, finish_reason: 'null' })),
    reason: 'no_finish',
    chunks: 2,
    before: 0,
  },
  'keep-alive comments wrapped as data': {
    seen: 'anomalyco/opencode#50871',
    events: [
      ...twice('data: : keepalive\n\n'),
      ...twice(text()),
      'data: : OPENROUTER PROCESSING\n\n',
      ...twice(text()),
      ...ended(4),
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
    notes: ['events: 3 events of no known meaning and without text were ignored: keep-alive (3)'],
  },
  'blank data': {
    seen: 'netease-lcap/wave-agent#1326',
    events: [
      'data: \n\n',
      ...twice(text()),
      'data:   \n\n',
      'event: keepalive\ndata:\n\n',
      ...twice(text()),
      ...ended(4),
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
    notes: ['events: 3 events of no known meaning and without text were ignored: blank data (3)'],
  },
  'null as an event': {
    seen: 'earendil-works/pi#2468',
    events: [...twice(text()), sse('null'), ...twice(text()), ...ended(4)],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'choices that are null': {
    seen: 'pydantic/pydantic-ai#5165',
    events: [...twice(text()), sse({ id: 'x', choices: null, usage: null }), ...twice(text()), ...ended(4)],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'results of a content filter without a delta': {
    seen: 'langchain-ai/langchain#18977',
    events: [
      sse({
        id: '',
        choices: [],
        prompt_filter_results: [
          { prompt_index: 0, content_filter_results: { hate: { filtered: false, severity: 'safe' } } },
        ],
      }),
      delta({ role: 'assistant', content: '' }),
      ...twice(text()),
      choice({
        content_filter_results: { hate: { filtered: false, severity: 'safe' } },
        content_filter_offsets: { check_offset: 1 },
      }),
      ...twice(text()),
      ...ended(4),
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'reasoning tokens beside none of completion': {
    seen: 'router-for-me/CLIProxyAPI#5733',
    events: [
      ...twice(delta({ reasoning_content: ' hm' })),
      sse(STOP),
      last({
        prompt_tokens: 21,
        completion_tokens: 0,
        total_tokens: 81,
        completion_tokens_details: { reasoning_tokens: 60 },
      }),
      DONE,
    ],
    chunks: 2,
    before: null,
    tokens: [21, 60, 60],
  },
  'reasoning tokens on top of completion tokens': {
    seen: 'UKGovernmentBEIS/inspect_ai#5528',
    events: [
      ...twice(text()),
      sse(STOP),
      last({
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 135,
        completion_tokens_details: { reasoning_tokens: 94 },
      }),
      DONE,
    ],
    chunks: 2,
    before: 0,
    tokens: [32, 103, 94],
  },
  'a total with cached tokens beside those of the prompt': {
    seen: 'no report: what a total with reasoning must not be taken for',
    events: [
      ...twice(text()),
      sse({
        ...STOP,
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 1012, cache_read_input_tokens: 1000 },
      }),
      DONE,
    ],
    chunks: 2,
    before: 0,
    tokens: [10, 2, null],
  },
  'cumulative usage in every chunk, null in the last': {
    seen: 'cline/cline#12282',
    events: [
      ...[1, 2, 3, 4].map((n) =>
        sse({ choices: [{ index: 0, delta: { content: ' tok' }, finish_reason: null }], usage: counted(n) }),
      ),
      sse({ ...STOP, usage: null }),
      DONE,
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'zero usage in every chunk but the last': {
    seen: 'router-for-me/CLIProxyAPI#3077',
    events: [
      ...[1, 2, 3, 4].map(() =>
        sse({
          choices: [{ index: 0, delta: { content: ' tok' }, finish_reason: null }],
          usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
        }),
      ),
      sse({ ...STOP, usage: counted(4) }),
      DONE,
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'a later usage with the cost only': {
    seen: 'Agent-Field/CodeAF#370',
    events: [...twice(text()), ...twice(text()), sse({ ...STOP, usage: counted(4) }), last({ cost: 0.01 }), DONE],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'usage of each chunk alone': {
    seen: 'trpc-group/trpc-agent-go#2384',
    events: [
      ...[1, 2, 1, 3, 1].map((n, i) =>
        sse({
          choices: [{ index: 0, delta: { content: ' tok' }, finish_reason: null }],
          usage: { prompt_tokens: i === 0 ? 4 : 0, completion_tokens: n, total_tokens: n },
        }),
      ),
      sse(STOP),
      DONE,
    ],
    chunks: 5,
    before: 0,
    tokens: [4, 8, null],
  },
  'content that repeats the text so far': {
    seen: 'QwenLM/qwen-code#3896',
    events: [...[' a', ' a b', ' a b c', ' a b c d'].map(text), ...ended(4)],
    chunks: 4,
    before: 0,
    tokens: FOUR,
    text: ' a b c d',
  },
  'a custom tool call': {
    seen: 'openai/openai-openapi#576',
    events: [
      delta({
        role: 'assistant',
        content: null,
        tool_calls: [{ index: 0, id: 'call_1', type: 'custom', custom: { name: 'shell', input: '' } }],
      }),
      ...twice(delta({ tool_calls: [{ index: 0, custom: { input: 'echo' } }] })),
      choice({ delta: {}, finish_reason: 'tool_calls' }),
      last(counted(4)),
      DONE,
    ],
    chunks: 3,
    before: 0,
    tokens: FOUR,
  },
  'a custom tool call of the Responses API': {
    seen: 'langchain-ai/langchainjs#8854',
    endpoint: responses,
    events: [
      typed('response.output_item.added', { item: { type: 'custom_tool_call', input: '', name: 'shell' } }),
      ...twice(typed('response.custom_tool_call_input.delta', { delta: 'echo', item_id: 'c', output_index: 1 })),
      typed('response.custom_tool_call_input.done', { input: 'echoecho' }),
      completed,
    ],
    chunks: 2,
    before: 0,
    tokens: FOUR,
  },
  'audio with its transcript': {
    seen: 'openai/openai-openapi, ChatCompletionStreamResponseDelta.audio',
    events: [
      delta({ role: 'assistant', audio: { id: 'audio_1', transcript: '' } }),
      delta({ audio: { transcript: ' hello' } }),
      ...twice(delta({ audio: { data: 'AAAA' } })),
      delta({ audio: { expires_at: 1_763_625_600 } }),
      ...ended(4),
    ],
    chunks: 3,
    before: 0,
    tokens: FOUR,
  },
  'an error in a field of its own, not in data': {
    seen: 'ggml-org/llama.cpp#16104',
    events: [...twice(text()), 'error: {"code":500,"message":"the context is full","type":"server_error"}\n\n', DONE],
    reason: 'error_event',
    message: 'the context is full',
    chunks: 2,
    before: 0,
  },
  'an event of type error without an error object': {
    seen: 'ggml-org/llama.cpp#16109, review',
    events: [...twice(text()), 'event: error\ndata: {"code":500,"message":"the context is full"}\n\n', DONE],
    reason: 'error_event',
    message: 'the context is full',
    chunks: 2,
    before: 0,
  },
  'content as parts of reasoning with a summary, and of text': {
    seen: 'Databricks, documentation of reasoning models',
    events: [
      ...twice(
        delta({
          role: 'assistant',
          content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: ' hm', signature: '' }] }],
        }),
      ),
      delta({ content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: '', signature: 'EqQB' }] }] }),
      ...twice(delta({ content: [{ type: 'text', text: ' tok' }] })),
      ...ended(4),
    ],
    ...THEN_TEXT,
  },
  'the whole message instead of a delta': {
    seen: 'Amm1rr/WebAI-to-API#55',
    events: [
      ...twice(choice({ message: { role: 'assistant', content: ' tok' } })),
      choice({ message: { role: 'assistant', content: '' }, finish_reason: 'stop' }),
      last(counted(4)),
      DONE,
    ],
    chunks: 2,
    before: 0,
    tokens: FOUR,
  },
  'an unknown field with the reasoning': {
    seen: 'openclaw/openclaw#66842',
    events: [...twice(delta({ content: '', reasoning_text: ' hm' })), ...twice(text()), ...ended(4)],
    ...THEN_TEXT,
    notes: ['delta.reasoning_text counted as output; --output-fields decides otherwise'],
  },
  'annotations of a web search': {
    seen: 'OpenRouter, documentation of web search',
    events: [
      delta({ role: 'assistant', content: '' }),
      ...twice(text()),
      ...twice(text()),
      delta({
        content: '',
        annotations: [
          { type: 'url_citation', url_citation: { url: 'https://h', title: 'A page', content: 'Its text' } },
        ],
      }),
      ...ended(4),
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'images as parts of the content and in a field': {
    seen: 'OpenRouter, documentation of image generation',
    events: [
      delta({ role: 'assistant', content: '' }),
      delta({ content: '', images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] }),
      delta({ content: [{ type: 'output_image', image_url: 'data:image/png;base64,AA' }] }),
      ...ended(4),
    ],
    chunks: 2,
    before: 0,
    tokens: FOUR,
  },
  'tools that the service ran, beside the reasoning': {
    seen: 'Groq, documentation of compound systems',
    events: [
      ...twice(delta({ reasoning: ' hm' })),
      delta({ executed_tools: [{ index: 0, type: 'search', arguments: '{}', output: 'Title: a page' }] }),
      ...twice(text()),
      ...ended(4),
    ],
    ...THEN_TEXT,
  },
  'padding against side channels, and other descriptions': {
    seen: 'Cloudflare Workers AI, documentation',
    events: [
      sse({ choices: [{ index: 0, delta: { role: 'assistant', content: '', padding: 'abc' } }], p: 'abcdefg' }),
      delta({ content: '', provider: 'x', created_at: '2026-11-27T00:00:00Z', toolCallId: 'c' }),
      ...twice(text()),
      ...twice(text()),
      ...ended(4),
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'thoughts in the content, marked beside it': {
    seen: 'Gemini, documentation of its OpenAI endpoint',
    events: [
      ...twice(delta({ role: 'assistant', content: ' hm', extra_content: { google: { thought: true } } })),
      ...twice(delta({ role: 'assistant', content: ' tok', extra_content: { google: { thought_signature: 'CiQ' } } })),
      ...ended(4),
    ],
    ...THEN_TEXT,
  },
  'usage beside the model in a field of its own': {
    seen: 'Groq, documentation of chat completions',
    events: [
      delta({ role: 'assistant', content: '' }),
      ...twice(text()),
      ...twice(text()),
      sse({ ...STOP, x_groq: { id: 'req_1', usage: { queue_time: 0.1, ...counted(4) } } }),
      DONE,
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'usage on the finishing chunk that carries a role': {
    seen: 'odysseus-dev/odysseus#1703',
    events: [
      ...twice(text()),
      ...twice(text()),
      sse({
        choices: [{ index: 0, delta: { role: 'assistant', content: null }, finish_reason: 'stop' }],
        usage: counted(4),
      }),
      DONE,
    ],
    chunks: 4,
    before: 0,
    tokens: FOUR,
  },
  'reasoning of a text completion': {
    seen: 'OpenRouter, schema of its responses (NonChatChoice)',
    endpoint: completions,
    events: [
      ...twice(
        sse({ object: 'text_completion', choices: [{ index: 0, text: '', reasoning: ' hm', finish_reason: null }] }),
      ),
      ...twice(sse({ object: 'text_completion', choices: [{ index: 0, text: ' tok', finish_reason: null }] })),
      sse({ choices: [{ index: 0, text: '', finish_reason: 'stop' }] }),
      last(counted(4)),
      DONE,
    ],
    ...THEN_TEXT,
  },
};

describe.each(Object.entries(SHAPES))('%s', (_name, { events, endpoint = chat, chunks, before, tokens, ...shape }) => {
  test.each([
    ['recognized', {}],
    ['with its text kept', { keepText: true, countTokens: (kept: string): number => kept.length, checkUsage: true }],
  ])('%s', async (_how, reading) => {
    const { closed } = await answeredBy(
      async (socket) => {
        socket.write(STREAM_HEAD);
        for (const event of events) {
          socket.write(httpChunk(event));
          await readThenWait(0);
        }
        socket.write(LAST_CHUNK);
      },
      GENEROUS,
      [],
      { endpoint, ...reading },
    );
    const { record, message, findings } = closed;
    const { sent_ns, first_output_ns, chunk_offsets_ns: offsets } = record;
    expect(record.reason).toBe(shape.reason ?? null);
    expect(offsets).toHaveLength(chunks);
    const earlier = first_output_ns === null ? null : offsets.filter((offset) => sent_ns + offset < first_output_ns);
    expect(earlier?.length ?? null).toBe(before);
    if (tokens !== undefined) {
      const output = 'keepText' in reading ? (shape.counted ?? tokens[1]) : tokens[1];
      const { input_tokens, output_tokens, reasoning_tokens } = record;
      expect([input_tokens, output_tokens, reasoning_tokens]).toEqual([tokens[0], output, tokens[2]]);
    }
    if (shape.notes !== undefined) expect(findingLines(findings)).toEqual(shape.notes);
    if (shape.message !== undefined) expect(message).toContain(shape.message);
    if ('keepText' in reading && shape.text !== undefined) expect(record.counted_output_tokens).toBe(shape.text.length);
  });
});
