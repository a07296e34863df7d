import { DataSourcePlugin } from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { PLUGIN_ID } from '../../constants.ts';
import { ConfigEditor } from './components/ConfigEditor.tsx';
import { QueryEditor } from './components/QueryEditor.tsx';
import { RunsDataSource } from './RunsDataSource.ts';
import type { RunsOptions, RunsQuery, RunsSecrets } from './types.ts';

// Grafana has initialized translations by now; this registers the plugin's texts before the first one is used.
void initPluginTranslations(PLUGIN_ID);

export const plugin = new DataSourcePlugin<RunsDataSource, RunsQuery, RunsOptions, RunsSecrets>(RunsDataSource)
  .setConfigEditor(ConfigEditor)
  .setQueryEditor(QueryEditor);
