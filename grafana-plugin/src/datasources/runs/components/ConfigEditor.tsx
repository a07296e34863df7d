import type { DataSourcePluginOptionsEditorProps } from '@grafana/data';
import { Alert, Field, FieldSet, Input, SecretInput, Switch } from '@grafana/ui';
import React from 'react';
import type { RunsOptions, RunsSecrets } from '../types.ts';

type Props = DataSourcePluginOptionsEditorProps<RunsOptions, RunsSecrets>;

const WIDTH = 48;

/** Address of the exporter and how Grafana's server proves who it is; secrets never come back to the browser. */
export function ConfigEditor({ options, onOptionsChange }: Props) {
  const { jsonData, secureJsonData, secureJsonFields } = options;
  const setJson = (change: Partial<RunsOptions>) =>
    onOptionsChange({ ...options, jsonData: { ...jsonData, ...change } });
  const setSecret = (name: keyof RunsSecrets, value: string, isSet: boolean) =>
    onOptionsChange({
      ...options,
      secureJsonData: { ...secureJsonData, [name]: value },
      secureJsonFields: { ...secureJsonFields, [name]: isSet },
    });
  const setToken = (text: string) =>
    onOptionsChange({
      ...options,
      jsonData: { ...jsonData, httpHeaderName1: 'Authorization' },
      secureJsonData: { ...secureJsonData, httpHeaderValue1: text === '' ? '' : `Bearer ${text}` },
    });
  return (
    <>
      <FieldSet label="Connection">
        <Field
          label="URL"
          description="Where llmbench serve answers, as Grafana's server reaches it, without a path"
          required
          invalid={!isHttpUrl(options.url)}
          error="An address that begins with http:// or https://"
        >
          <Input
            id="llmbench-url"
            width={WIDTH}
            value={options.url}
            placeholder="http://localhost:9469"
            onChange={({ currentTarget }) => onOptionsChange({ ...options, url: currentTarget.value })}
          />
        </Field>
        {options.access === 'direct' && (
          <Alert severity="error" title="Browser access is not supported: choose access mode Server." />
        )}
      </FieldSet>
      <FieldSet label="Authentication">
        <Field label="Token" description="What llmbench serve reads from --api-token-file; sent as a bearer token">
          <SecretInput
            id="llmbench-token"
            width={WIDTH}
            isConfigured={secureJsonFields?.['httpHeaderValue1'] ?? false}
            value={(secureJsonData?.httpHeaderValue1 ?? '').replace(/^Bearer /, '')}
            placeholder="none"
            onReset={() => setSecret('httpHeaderValue1', '', false)}
            onChange={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </Field>
        <Field label="Basic authentication" description="For a reverse proxy before the exporter">
          <Switch
            id="llmbench-basic-auth"
            value={options.basicAuth}
            onChange={({ currentTarget }) => onOptionsChange({ ...options, basicAuth: currentTarget.checked })}
          />
        </Field>
        {options.basicAuth && (
          <>
            <Field label="User">
              <Input
                id="llmbench-user"
                width={WIDTH}
                value={options.basicAuthUser}
                onChange={({ currentTarget }) => onOptionsChange({ ...options, basicAuthUser: currentTarget.value })}
              />
            </Field>
            <Field label="Password">
              <SecretInput
                id="llmbench-password"
                width={WIDTH}
                isConfigured={secureJsonFields?.['basicAuthPassword'] ?? false}
                value={secureJsonData?.basicAuthPassword ?? ''}
                onReset={() => setSecret('basicAuthPassword', '', false)}
                onChange={({ currentTarget }) =>
                  setSecret('basicAuthPassword', currentTarget.value, secureJsonFields?.['basicAuthPassword'] ?? false)
                }
              />
            </Field>
          </>
        )}
        <Field label="Take any TLS certificate" description="For tests only: whoever answers is then believed">
          <Switch
            id="llmbench-tls-skip-verify"
            value={jsonData.tlsSkipVerify ?? false}
            onChange={({ currentTarget }) => setJson({ tlsSkipVerify: currentTarget.checked })}
          />
        </Field>
      </FieldSet>
    </>
  );
}

function isHttpUrl(text: string): boolean {
  return text === '' || /^https?:\/\/\S+$/.test(text);
}
