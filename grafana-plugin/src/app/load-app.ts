import { initPluginTranslations } from '@grafana/i18n';
import { loadResources } from '@grafana/scenes';
import { PLUGIN_ID } from '../constants.ts';

/** The app with its texts and those of scenes. */
export async function loadApp() {
  await initPluginTranslations(PLUGIN_ID, [loadResources]);
  return import('./App.tsx');
}
