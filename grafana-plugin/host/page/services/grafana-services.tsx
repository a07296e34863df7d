import {
  type DataFrame,
  EventBusSrv,
  LoadingState,
  type NavModelItem,
  type PanelData,
  standardTransformers,
  standardTransformersRegistry,
  toDataFrame,
} from '@grafana/data';
import {
  type BackendSrv,
  type BackendSrvRequest,
  config,
  type FetchResponse,
  locationService,
  type PluginPageProps,
  setAppEvents,
  setBackendSrv,
  setChromeHeaderHeightHook,
  setCurrentUser,
  setEchoSrv,
  setLocationSrv,
  setMegaMenuOpenHook,
  setPluginComponentHook,
  setPluginComponentsHook,
  setPluginFunctionsHook,
  setPluginLinksHook,
  setReturnToPreviousHook,
  setRunRequest,
  setTemplateSrv,
  type TemplateSrv,
} from '@grafana/runtime';
import { Tab, TabsBar } from '@grafana/ui';
// Grafana's application sets its page frame with this setter, which the package does not export.
import { setPluginPage } from 'grafana-runtime-plugin-page';
import i18next from 'i18next';
import React from 'react';
import { catchError, from, lastValueFrom, map, merge, type Observable, of } from 'rxjs';

/** The singletons that Grafana's application sets before it loads a plugin; what the plugin does not use does nothing. */
export async function registerServices(): Promise<void> {
  setAppEvents(new EventBusSrv());
  setEchoSrv({ addEvent: () => {}, addBackend: () => {}, flush: () => {} });
  setTemplateSrv({
    getVariables: () => [],
    replace: (text) => text ?? '',
    containsTemplate: () => false,
    updateTimeRange: () => {},
  } as TemplateSrv);
  setLocationSrv({ update: ({ path }) => locationService.push(path ?? '/') });
  setPluginLinksHook(() => ({ links: [], isLoading: false }));
  setPluginComponentsHook(() => ({ components: [], isLoading: false }));
  setPluginFunctionsHook(() => ({ functions: [], isLoading: false }));
  setPluginComponentHook(() => ({ component: null, isLoading: false }));
  setReturnToPreviousHook(() => () => {});
  setChromeHeaderHeightHook(() => 0);
  setMegaMenuOpenHook(() => [false, () => {}, false] as never);
  setCurrentUser(config.bootData.user as never);
  registerBackend();
  registerRunRequest();
  setPluginPage(PageFrame);
  standardTransformersRegistry.setInit(() =>
    Object.values(standardTransformers).map((transformation) => ({
      id: transformation.id,
      name: transformation.name,
      transformation,
      editor: () => null,
      imageDark: '',
      imageLight: '',
    }))
  );
  await i18next.init({ lng: 'en-US', resources: {}, returnEmptyString: false });
}

/** Grafana's client of its own HTTP API: answers other than 2xx are thrown with their status and body. */
function fetchFromServer<T>(options: BackendSrvRequest): Observable<FetchResponse<T>> {
  return from(request<T>(options));
}

async function request<T>(options: BackendSrvRequest): Promise<FetchResponse<T>> {
  const response = await fetch(address(options), {
    method: options.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...options.headers },
    ...(options.data !== undefined && { body: JSON.stringify(options.data) }),
    ...(options.abortSignal && { signal: options.abortSignal }),
  });
  const text = await response.text();
  const { ok, status, statusText, headers, redirected, type, url } = response;
  const data = parsed(text) as T;
  if (!ok) {
    throw { status, statusText, data, config: options, isHandled: true };
  }
  return { ok, status, statusText, headers, redirected, type, url, data, config: options };
}

function address({ url, params }: BackendSrvRequest): string {
  const target = new URL(url, window.location.origin);
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) {
        target.searchParams.append(name, String(one));
      }
    }
  }
  return target.href;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      return text;
    }
    throw error;
  }
}

function registerBackend(): void {
  const backend: Partial<BackendSrv> = {
    fetch: fetchFromServer,
    get: async (url, params) => (await lastValueFrom(fetchFromServer({ url, params }))).data as never,
  };
  setBackendSrv(backend as BackendSrv);
}

/** Runs queries for scenes: loading first, then what the data source answers or why it could not. */
function registerRunRequest(): void {
  setRunRequest((dataSource, request) => {
    const base: PanelData = {
      state: LoadingState.Loading,
      series: [],
      annotations: [],
      timeRange: request.range,
      request,
      structureRev: 1,
    };
    const answer: Observable<PanelData> = from(dataSource.query(request)).pipe(
      map((response) => ({
        ...base,
        state: response.state ?? LoadingState.Done,
        series: response.data.map((frame: DataFrame) => toDataFrame(frame)),
        ...(response.errors && { errors: response.errors }),
      })),
      catchError((error: Error) =>
        of({ ...base, state: LoadingState.Error, errors: [{ message: error.message ?? String(error) }] })
      )
    );
    return merge(of(base), answer);
  });
}

/** Breadcrumbs, title, subtitle, actions and tabs, as Grafana's own frame has them. */
function PageFrame({ pageNav, subTitle, actions, renderTitle, children }: PluginPageProps) {
  const title = pageNav?.text ?? 'llmbench';
  const tabs = pageNav?.children ?? [];
  return (
    <div style={{ padding: '8px 24px 24px', display: 'flex', flexDirection: 'column', gap: 16, minHeight: '100vh' }}>
      <nav aria-label="Breadcrumbs" style={{ fontSize: 12 }}>
        {breadcrumbs(pageNav).map(({ text, url }, i) => (
          <React.Fragment key={text}>
            {i > 0 && ' › '}
            <a href={url}>{text}</a>
          </React.Fragment>
        ))}
      </nav>
      <div style={{ display: 'flex', justifyContent: 'space-between', alignItems: 'center', gap: 16 }}>
        {renderTitle ? renderTitle(title) : <h1 style={{ margin: 0 }}>{title}</h1>}
        <div style={{ display: 'flex', gap: 8 }}>{actions}</div>
      </div>
      {subTitle !== undefined && <div>{subTitle}</div>}
      {tabs.length > 0 && (
        <TabsBar>
          {tabs.map(({ text, url, active }) => (
            <Tab key={text} label={text} active={active ?? false} href={url ?? ''} />
          ))}
        </TabsBar>
      )}
      <main style={{ flex: 1, display: 'flex', flexDirection: 'column', minWidth: 0 }}>{children}</main>
    </div>
  );
}

function breadcrumbs(item: NavModelItem | undefined): NavModelItem[] {
  return item ? [...breadcrumbs(item.parentItem), item] : [];
}
