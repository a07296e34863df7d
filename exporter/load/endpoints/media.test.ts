import { expect, test } from '@jest/globals';
import type { GenerationRequest } from './endpoint.ts';
import { messagesEndpoint } from './messages.ts';
import { chat } from './openai.ts';
import { responses } from './responses.ts';

const DATA = 'data:image/png;base64,AAAA';
const ADDRESS = 'https://example.com/a.jpg';
const REQUEST: GenerationRequest = {
  prompt: 'two',
  images: [ADDRESS],
  max_tokens: 5,
  history: [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'one', images: [DATA] },
    { role: 'assistant', content: 'yes' },
  ],
};
const OPTIONS = { model: 'm', sampling: {}, includeUsage: false };
const bodyOf = (endpoint: typeof chat, request = REQUEST): unknown => JSON.parse(endpoint.body(request, OPTIONS));

/** The forms that the API references of OpenAI and Anthropic have. */
test.each([
  [
    'chat',
    chat,
    {
      messages: [
        { role: 'system', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'one' },
            { type: 'image_url', image_url: { url: DATA } },
          ],
        },
        { role: 'assistant', content: 'yes' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'two' },
            { type: 'image_url', image_url: { url: ADDRESS } },
          ],
        },
      ],
    },
  ],
  [
    'responses',
    responses,
    {
      input: [
        { role: 'system', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'one' },
            { type: 'input_image', image_url: DATA, detail: 'auto' },
          ],
        },
        { role: 'assistant', content: 'yes' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'two' },
            { type: 'input_image', image_url: ADDRESS, detail: 'auto' },
          ],
        },
      ],
    },
  ],
  [
    'messages',
    messagesEndpoint(null),
    {
      system: 'be brief',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'one' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        { role: 'assistant', content: 'yes' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'two' },
            { type: 'image', source: { type: 'url', url: ADDRESS } },
          ],
        },
      ],
    },
  ],
])('%s has images in the message of their turn', (_, endpoint, expected) => {
  expect(bodyOf(endpoint)).toMatchObject(expected);
});

const audioPart = (url: string): unknown => {
  const body = bodyOf(chat, { prompt: 'hear', images: [DATA], audio: [url], max_tokens: 1 });
  const [message] = (body as { messages: { content: unknown[] }[] }).messages;
  expect(message?.content.slice(0, 2)).toMatchObject([{ type: 'text' }, { type: 'image_url' }]);
  return message?.content[2];
};

/** OpenAI's part has `wav` and `mp3`; vLLM's has URLs. */
test.each([
  ['data:audio/wav;base64,AAAA', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
  ['data:audio/mp3;base64,AAAA', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }],
  ['data:audio/flac;base64,AAAA', { type: 'audio_url', audio_url: { url: 'data:audio/flac;base64,AAAA' } }],
  ['https://example.com/a.wav', { type: 'audio_url', audio_url: { url: 'https://example.com/a.wav' } }],
])('chat has %s after text and images', (url, expected) => {
  expect(audioPart(url)).toEqual(expected);
});

test('an image alone has no empty text beside it', () => {
  expect(bodyOf(chat, { prompt: '', images: [DATA], max_tokens: 1 })).toMatchObject({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: DATA } }] }],
  });
});
