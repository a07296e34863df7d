import { EventBusSrv, standardTransformers, standardTransformersRegistry } from '@grafana/data';
import {
  config,
  locationService,
  setAppEvents,
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
  setTemplateSrv,
  type TemplateSrv,
} from '@grafana/runtime';
import i18next from 'i18next';
import { registerBackend } from './backend.ts';
import { registerPluginPage } from './plugin-page.tsx';
import { registerRunRequest } from './run-request.ts';

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
  registerPluginPage();
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
