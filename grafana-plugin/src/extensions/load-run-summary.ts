import { initPluginTranslations } from '@grafana/i18n';
import { PLUGIN_ID } from '../constants.ts';

/** The component with its texts; it is shown outside of the app, which then has not loaded them. */
export async function loadRunSummary() {
  await initPluginTranslations(PLUGIN_ID);
  return import('./RunSummaryCard.tsx');
}
