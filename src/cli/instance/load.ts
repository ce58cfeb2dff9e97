/** Loads the configuration and checks what its own module cannot: what later modules define, such as event types. */
import { declaredIssues } from '../../alerts/administration/declared_values.ts'
import { ConfigError, type ConfigIssue } from '../../config/checks/issues.ts'
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../config/load.ts'
import { adviceOnType } from '../../events/type_advice.ts'
import { EVENT_TYPES } from '../../events/vocabulary.ts'
import { setAddonFolder } from '../../program/addon.ts'
import { installedConfig } from '../install/layout.ts'

/**
 * Loads and checks the configuration.
 *
 * @throws ConfigError with every issue. If there is no other issue, it has one for each unknown event type of an
 * endpoint, and for each channel or rule of alerts that its kind or template does not accept.
 */
export function loadWithTypes(loadOptions: LoadOptions): LoadedConfig {
  const loaded = loadConfig({ ...loadOptions, fallback: installedConfig() })
  setAddonFolder(loaded.config.store.native_dir)
  const issues = [...unknownTypes(loaded), ...alertIssues(loaded)]
  if (issues.length > 0) throw new ConfigError(issues)
  return loaded
}

function unknownTypes(loaded: LoadedConfig): ConfigIssue[] {
  const known: readonly string[] = EVENT_TYPES
  return loaded.config.endpoints.flatMap(({ types }, index) => {
    const path = `endpoints[${index}].types`
    return (types ?? []).flatMap((type, at) =>
      known.includes(type)
        ? []
        : unknownType(type, `${path}[${at}]`, loaded.locationByPath.get(path) ?? path),
    )
  })
}

/** The place is that of the setting: a file with secrets has no lines. */
const alertIssues = ({ config, locationByPath }: LoadedConfig): ConfigIssue[] =>
  declaredIssues(config).map((issue) => {
    const setting = /^[a-z_]+\[\d+\]\.[a-z_]+/.exec(issue.path)?.[0] ?? issue.path
    return { ...issue, line: null, source: locationByPath.get(setting) ?? setting }
  })

function unknownType(type: string, path: string, source: string): ConfigIssue {
  const problem = `"${type}" is not an event type`
  return { path, line: null, source, problem, advice: adviceOnType(type) }
}
