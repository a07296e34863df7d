import type { DataSourcePluginOptionsEditorProps } from '@grafana/data';
import { Alert, Field, FieldSet, Input, SecretInput, Switch } from '@grafana/ui';
import React from 'react';
import type { RunsOptions, RunsSecrets } from '../types.ts';
import { t } from '../../../text.ts';

type Props = DataSourcePluginOptionsEditorProps<RunsOptions, RunsSecrets>;

const WIDTH = 48;
const EXAMPLE_URL = 'http://localhost:9469';

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
      <FieldSet label={t('source.config.connection', 'Connection')}>
        <Field
          label={t('source.config.url', 'URL')}
          description={t(
            'source.config.url-meaning',
            'URL of llmbench serve as reachable from the Grafana server, without a path'
          )}
          required
          invalid={!isHttpUrl(options.url)}
          error={t('source.config.url-problem', 'The URL must start with http:// or https://')}
        >
          <Input
            id="llmbench-url"
            width={WIDTH}
            value={options.url}
            placeholder={EXAMPLE_URL}
            onChange={({ currentTarget }) => onOptionsChange({ ...options, url: currentTarget.value })}
          />
        </Field>
        {options.access === 'direct' && (
          <Alert
            severity="error"
            title={t('source.config.access', 'Browser access is not supported: choose access mode Server.')}
          />
        )}
      </FieldSet>
      <FieldSet label={t('source.config.authentication', 'Authentication')}>
        <Field
          label={t('source.config.token', 'Token')}
          description={t(
            'source.config.token-meaning',
            'Content of the file in --api-token-file of llmbench serve, sent as a bearer token. Changing baselines requires it; Grafana forwards changes of editors only.'
          )}
        >
          <SecretInput
            id="llmbench-token"
            width={WIDTH}
            isConfigured={secureJsonFields?.['httpHeaderValue1'] ?? false}
            value={(secureJsonData?.httpHeaderValue1 ?? '').replace(/^Bearer /, '')}
            placeholder={t('source.config.no-token', 'none')}
            onReset={() => setSecret('httpHeaderValue1', '', false)}
            onChange={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </Field>
        <Field
          label={t('source.config.basic', 'Basic authentication')}
          description={t('source.config.basic-meaning', 'For a reverse proxy in front of the exporter')}
        >
          <Switch
            id="llmbench-basic-auth"
            value={options.basicAuth}
            onChange={({ currentTarget }) => onOptionsChange({ ...options, basicAuth: currentTarget.checked })}
          />
        </Field>
        {options.basicAuth && (
          <>
            <Field label={t('source.config.user', 'User')}>
              <Input
                id="llmbench-user"
                width={WIDTH}
                value={options.basicAuthUser}
                onChange={({ currentTarget }) => onOptionsChange({ ...options, basicAuthUser: currentTarget.value })}
              />
            </Field>
            <Field label={t('source.config.password', 'Password')}>
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
        <Field
          label={t('source.config.tls', 'Skip TLS certificate verification')}
          description={t('source.config.tls-meaning', 'For tests only: the certificate is not verified')}
        >
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
