import { basename } from 'node:path';
import { readFile } from 'node:fs/promises';
import type { RunDataset, RunDatasetFile } from '../../core/run/run-dataset.ts';
import { secretsOf } from '../../core/run/secret-fields.ts';
import { ConfigurationError } from '../errors/expected-error.ts';
import { environmentProxies, NO_PROXIES } from '../http-client/proxy.ts';
import { queryValues } from '../http-client/public-url.ts';
import type { Dataset } from '../load/datasets/dataset.ts';
import { withModels } from '../load/datasets/mixed-models.ts';
import { documentShape, openDataset, type DatasetRequest, type InputFile } from '../load/datasets/open-dataset.ts';
import {
  DEFAULT_INPUT_TOKENS,
  DEFAULT_OUTPUT_TOKENS,
  type DocumentShape,
  type SyntheticOptions,
} from '../load/datasets/synthetic-dataset.ts';
import { BLOCK_TOKENS } from '../load/datasets/trace-dataset.ts';
import { chooseEndpoint } from '../load/endpoints/endpoint-types.ts';
import { limitsOutput, type ResponseMode, type Endpoint, type GenerationOptions } from '../load/endpoints/endpoint.ts';
import { checkedExtraInputs } from '../load/endpoints/extra-inputs.ts';
import { type TemplateConfig, parseTemplate } from '../load/endpoints/template.ts';
import { MEDIA_KINDS, MEDIA_OPTIONS } from '../load/media/media-urls.ts';
import { isMediaUrl } from '../load/media/read-media.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import { TRACE_HEADER } from '../load/requests/trace-context.ts';
import { loadTokenizer, type Tokenizer } from '../load/tokenizers/tokenizer.ts';
import { openTransport, parseTargets, readApiKey } from '../load/transports/open-transport.ts';
import type { RequestTarget } from '../load/transports/target.ts';
import type { Transport } from '../load/transports/transport.ts';
import type { RunRequest } from './run-request.ts';

/** The dataset's options as run.json has them. `dataset` is what they opened. */
function runDataset(request: RunRequest, dataset: Dataset, tokenizer: Tokenizer | null): RunDataset {
  const { file } = request.traffic.dataset;
  const used = request.traffic.tokenizer;
  return {
    ...(file === null ? syntheticOptions(request) : fileOptions(request, file, dataset)),
    tokenizer:
      used === null || tokenizer === null
        ? null
        : { name: used.name, revision: used.revision, identity: tokenizer.identity },
    seed: request.seed,
  };
}

/** For endpoints that read texts; nothing for prompts. */
const readTexts = (shape: DocumentShape | null): Pick<RunDataset, 'documents'> =>
  shape === null ? {} : { documents: { count: shape.count, query_tokens: shape.queryTokens } };

type SyntheticPrefixes = Pick<SyntheticOptions, 'prefixes' | 'primed'>;
type ChosenOptions = Omit<RunDataset, 'tokenizer' | 'seed'>;

function syntheticOptions({ traffic: { dataset }, textVariant }: RunRequest): ChosenOptions {
  const { inputTokens, outputTokens, synthetic } = dataset;
  const { distribution = null, conversations = null } = synthetic;
  const isPlain = distribution === null;
  return {
    type: 'synthetic',
    input_tokens: isPlain ? { mean: inputTokens ?? DEFAULT_INPUT_TOKENS, stddev: synthetic.inputStddev ?? 0 } : null,
    output_tokens: isPlain
      ? { mean: outputTokens ?? DEFAULT_OUTPUT_TOKENS, stddev: synthetic.outputStddev ?? 0 }
      : null,
    lengths:
      distribution?.map(({ input, output, share }) => ({ input_tokens: input, output_tokens: output, share })) ?? null,
    shared_system_prompt_tokens: synthetic.systemPromptTokens ?? 0,
    ...prefixFacts(dataset.synthetic),
    user_context_tokens: synthetic.userContextTokens ?? 0,
    conversation: conversations && {
      turns: conversations.turns,
      delay_seconds: { mean: conversations.delay.mean, stddev: conversations.delay.stddev },
    },
    delay_factor: conversations?.delay.ratio ?? null,
    entries: synthetic.entries ?? null,
    file: null,
    prompt_variant: textVariant,
  };
}

function prefixFacts({
  prefixes,
  primed = false,
}: SyntheticPrefixes): Pick<RunDataset, 'prefix_prompts' | 'prefix_tree' | 'primed_prefixes'> {
  if (prefixes === undefined) return { prefix_prompts: null };
  const { levels, zipfAlpha } = prefixes;
  const [first, ...deeper] = levels;
  const isPlain = deeper.length === 0 && zipfAlpha === 0;
  return {
    prefix_prompts: deeper.length === 0 ? (first ?? null) : null,
    ...(isPlain ? {} : { prefix_tree: { levels, zipf_alpha: zipfAlpha } }),
    ...(primed ? { primed_prefixes: true } : {}),
  };
}

function fileOptions(
  { traffic }: RunRequest,
  file: InputFile,
  { fileSha256, conversation, recordedLoad }: Dataset,
): ChosenOptions {
  const { outputTokens } = traffic.dataset;
  return {
    type: file.type,
    input_tokens: null,
    output_tokens: outputTokens === null ? null : { mean: outputTokens, stddev: 0 },
    lengths: null,
    shared_system_prompt_tokens: 0,
    prefix_prompts: null,
    user_context_tokens: 0,
    conversation: null,
    delay_factor: conversation === undefined ? null : file.delayRatio,
    entries: null,
    file: fileSha256 === undefined ? null : fileFacts(file, fileSha256),
    ...(recordedLoad && { recorded_load: recordedLoad }),
    prompt_variant: null,
  };
}

function fileFacts({ path, type, strategy, blockTokens, source }: InputFile, sha256: string): RunDatasetFile {
  const blocks = type in BLOCK_TOKENS ? BLOCK_TOKENS[type as keyof typeof BLOCK_TOKENS] : null;
  return {
    name: basename(path),
    sha256,
    sampling_strategy: strategy,
    block_tokens: blocks === null ? null : (blockTokens ?? blocks),
    ...(source === undefined ? {} : { source }),
  };
}

/** Everything that requests require, before the first contact with the server. */
export interface PreparedTraffic {
  /** The first server. */
  readonly target: RequestTarget;
  /** All servers, in the order of their URLs. */
  readonly targets: readonly RequestTarget[];
  readonly transport: Transport;
  readonly form: RequestForm;
  readonly dataset: RunDataset;
  /** The API key, and credentials in headers, extra inputs and addresses. */
  readonly credentials: readonly string[];
  /** Texts that no message may contain: these, and the values of all headers that the user set. */
  readonly secrets: readonly string[];
}

/** The servers of a run and how they are reached. */
interface ServerAccess {
  readonly endpoint: Endpoint;
  readonly mode: ResponseMode;
  readonly options: GenerationOptions;
  /** In the order of their URLs. */
  readonly targets: readonly [RequestTarget, ...RequestTarget[]];
  readonly openTransport: () => Promise<Transport>;
  /** Of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The API key, and credentials in headers, extra inputs and addresses. */
  readonly credentials: readonly string[];
  /** Texts that no message may contain: these, and the values of all headers that the user set. */
  readonly secrets: readonly string[];
}

/** Throws a `ConfigurationError` when a file, URL or combination cannot be used. */
export async function serverAccess(request: RunRequest, environment: NodeJS.ProcessEnv): Promise<ServerAccess> {
  const { traffic, model, sampling } = request;
  const template = await readTemplate(traffic.endpointTemplate);
  const { endpointType: type, stream, outputFields } = traffic;
  const { endpoint, mode } = chooseEndpoint({ type, model, stream, template, outputFields });
  if (request.models !== undefined && (type === 'triton_generate' || type === 'kserve_infer'))
    throw new ConfigurationError(`--endpoint-type ${type} has the model in its path: a run has one --model`);
  const options = generationOptions(request, endpoint, mode);
  const targets = proxiedTargets(request, endpoint, environment);
  const apiKey = await readApiKey(traffic.apiKey, environment);
  const credentials = [
    ...(apiKey === null ? [] : [apiKey]),
    ...secretHeaders(request.headers),
    ...secretWords([...secretsOf(sampling), ...addressesOf(request).flatMap(queryValues)]),
  ];
  const ofProxies = targets.flatMap(({ proxy }) => proxy?.secrets ?? []);
  const secrets = [...new Set([...credentials, ...ofProxies, ...headerValues(request.headers)])];
  return {
    endpoint,
    mode,
    options,
    targets,
    openTransport: () => openTransport(targets, traffic.connection, secrets),
    headers: requestHeaders(request, apiKey, endpoint, mode),
    credentials,
    secrets,
  };
}

/** Reads the files that the request names. Throws a `ConfigurationError` before anything is sent. */
export async function prepareTraffic(request: RunRequest, environment: NodeJS.ProcessEnv): Promise<PreparedTraffic> {
  const { traffic } = request;
  const server = await serverAccess(request, environment);
  const { endpoint, targets, headers, credentials, secrets } = server;
  const tokenizer = await tokenizerOf(request, environment);
  const { takes } = endpoint;
  const datasetRequest = { ...traffic.dataset, seed: request.seed, repeat: request.textVariant, takes };
  const opened = await openDataset(datasetRequest, tokenizer);
  // Payloads are the user's own.
  if (traffic.dataset.file?.type !== 'raw_payload') refuseUnreadMedia(opened, endpoint);
  const dataset = request.models === undefined ? opened : withModels(opened, request.models, request.seed);
  return {
    target: targets[0],
    targets,
    transport: await server.openTransport(),
    form: {
      endpoint,
      path: targets[0].path,
      headers,
      dataset: endpoint.generates ? dataset : { ...dataset, longestOutputTokens: 0 },
      options: server.options,
      ...counting(endpoint, tokenizer, traffic.checkUsage === true),
      ...tracing(request),
    },
    dataset: {
      ...runDataset(request, dataset, tokenizer),
      ...readTexts(documentShape(datasetRequest)),
      ...(dataset.images && { images: dataset.images }),
      ...(dataset.audio && { audio: dataset.audio }),
    },
    credentials,
    secrets,
  };
}

const WITH_MEDIA = { images: 'chat, responses or messages', audio: 'chat' };

/** Throws a `ConfigurationError` when requests have media that the endpoint does not read. */
function refuseUnreadMedia(dataset: Dataset, { type, media = [] }: Endpoint): void {
  const kind = MEDIA_KINDS.find((each) => dataset[each] !== undefined && !media.includes(each));
  if (kind === undefined) return;
  throw new ConfigurationError(
    `--endpoint-type ${type} has no ${kind}: use ${WITH_MEDIA[kind]}, or remove ${MEDIA_OPTIONS[kind]}`,
  );
}

/** The targets of the URLs, each with the proxy that the environment names for it. */
function proxiedTargets(
  { url, traffic: { moreUrls, endpointPath, connection } }: RunRequest,
  endpoint: Endpoint,
  environment: NodeJS.ProcessEnv,
): ServerAccess['targets'] {
  const isDirect = connection.direct === true || connection.unixSocket !== null;
  const proxies = isDirect ? NO_PROXIES : environmentProxies(environment);
  const withProxy = (target: RequestTarget): RequestTarget => {
    const proxy = proxies(target.origin);
    return proxy === null ? target : { ...target, proxy };
  };
  const [first, ...others] = parseTargets([url, ...moreUrls], endpoint, endpointPath);
  return [withProxy(first), ...others.map(withProxy)];
}

/** The options of every request. Throws a `ConfigurationError` for fields that cannot be set or removed. */
function generationOptions(
  { traffic: { lengthField }, model, sampling: given, maxOutputTokensTotal }: RunRequest,
  endpoint: Endpoint,
  mode: ResponseMode,
): GenerationOptions {
  const own = lengthField === null ? endpoint.ownFields : [...endpoint.ownFields, lengthField];
  const { sampling, omitted } = checkedExtraInputs(given, own);
  const options = {
    model,
    sampling,
    includeUsage: !omitted.includes('stream_options'),
    stream: mode === 'stream',
    ...(omitted.length === 0 ? {} : { omitted }),
    ...(lengthField === null ? {} : { lengthField }),
  };
  if (maxOutputTokensTotal !== null && !limitsOutput(endpoint, options))
    throw new ConfigurationError(
      '--max-output-tokens-total counts the limit of each request, which --extra-inputs removes: remove one of them',
    );
  return options;
}

async function readTemplate(path: string | null): Promise<TemplateConfig | null> {
  if (path === null) return null;
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError(`--endpoint-template ${path}: ${error.code ?? error.message}`);
  });
  return parseTemplate(text, path);
}

async function tokenizerOf({ traffic }: RunRequest, environment: NodeJS.ProcessEnv): Promise<Tokenizer | null> {
  if (traffic.tokenizer === null) return null;
  return loadTokenizer(traffic.tokenizer.name, traffic.tokenizer.revision, environment);
}

function counting(
  endpoint: Endpoint,
  tokenizer: Tokenizer | null,
  checkUsage: boolean,
): Pick<RequestForm, 'countTokens' | 'checkUsage'> {
  return tokenizer === null || !endpoint.generates ? {} : { countTokens: (text) => tokenizer.count(text), checkUsage };
}

function requestHeaders(
  request: RunRequest,
  apiKey: string | null,
  endpoint: Endpoint,
  mode: ResponseMode,
): Readonly<Record<string, string>> {
  const key = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const accept = mode === 'stream' ? 'text/event-stream' : 'application/json';
  return { 'content-type': 'application/json', accept, ...key, ...endpoint.headers?.(apiKey), ...request.headers };
}

/** Throws a `ConfigurationError` when every request has the same trace by the user's own header. */
function tracing({ traffic: { traceSampleRatio = 0 }, headers }: RunRequest): Pick<RequestForm, 'traceSampleRatio'> {
  if (traceSampleRatio === 0) return {};
  if (Object.keys(headers).some((name) => name.toLowerCase() === TRACE_HEADER))
    throw new ConfigurationError(`--trace-sample-ratio sets the header ${TRACE_HEADER}: remove it from --header`);
  return { traceSampleRatio };
}

/** All that may have a query. */
const addressesOf = ({ url, traffic: { moreUrls, endpointPath, dataset } }: RunRequest): readonly string[] => [
  ...[url, ...moreUrls, ...mediaAddresses(dataset.media)],
  ...(endpointPath === null ? [] : [`http://h${endpointPath}`]),
];

const mediaAddresses = (media: DatasetRequest['media'] = []): readonly string[] =>
  media.flatMap((each) => ('sources' in each ? each.sources.filter(isMediaUrl) : []));

const SECRET_HEADER = /authorization|cookie|key|token|secret/;

/** Values of headers that are credentials by their name, and the part after the scheme in them. */
function secretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value] : []));
  return secretWords(values);
}

/** Their values are words of ordinary messages. */
const HARMLESS_HEADER = /^(?:accept(?:-.*)?|content-type|user-agent)$/;

/** Values of headers that may be credentials by another name: whole, and the parts in them that have digits. */
function headerValues(headers: Readonly<Record<string, string>>): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (HARMLESS_HEADER.test(name) ? [] : [value]));
  return secretWords(values).filter((text) => values.includes(text) || /\d/.test(text));
}

/** Very short values would redact ordinary words. */
function secretWords(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => [value, ...value.split(/\s+/)]).filter((text) => text.length >= 6);
}
