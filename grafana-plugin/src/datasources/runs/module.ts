import { DataSourcePlugin } from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { PLUGIN_ID } from '../../constants/plugin.ts';
import { ConfigEditor } from './components/ConfigEditor.tsx';
import { QueryEditor } from './components/QueryEditor.tsx';
import { RunsDataSource } from './RunsDataSource.ts';
import type { RunsOptions, RunsQuery, RunsSecrets } from './types.ts';

// Grafana has set up translations long before; this names the folder of texts, and no text is asked for until then.
void initPluginTranslations(PLUGIN_ID);

export const plugin = new DataSourcePlugin<RunsDataSource, RunsQuery, RunsOptions, RunsSecrets>(RunsDataSource)
  .setConfigEditor(ConfigEditor)
  .setQueryEditor(QueryEditor);
