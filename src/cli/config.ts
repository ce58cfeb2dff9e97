/** The command `windfall config dump`: every setting in effect with its source. */
import { defineCommand } from 'citty'
import { pathText } from '../config/checks/issues.ts'
import { flatten } from '../config/flatten.ts'
import { tomlText } from '../config/setting.ts'
import { settingAt } from '../config/settings.ts'
import { columns, configArg, load } from './instance/instance.ts'
import { print, setResult } from './instance/output.ts'

const MASK = '(not shown)'

const dump = defineCommand({
  meta: { name: 'dump', description: 'Print every setting with its value and where the value comes from' },
  args: configArg,
  run({ args }) {
    const { config, file, locationByPath, sourceKindByPath } = load(args.config)
    const settings = flatten(config).flatMap(([path, value]) => {
      const setting = settingAt(path)
      if (setting === null) return []
      const name = pathText(path)
      const shown = setting.secret && value !== null ? MASK : value
      return [
        {
          path: name,
          value: shown,
          source: sourceKindByPath.get(name) ?? 'default',
          location: locationByPath.get(name) ?? null,
        },
      ]
    })
    setResult({ file, settings })
    const rows = settings.map(({ path, value, source, location }) => [
      path,
      value === MASK ? MASK : value === null ? 'not set' : tomlText(value),
      location ?? source,
    ])
    print(columns([['setting', 'value', 'source'], ...rows]))
  },
})

export const configCommand = defineCommand({
  meta: { name: 'config', description: 'Show the configuration in effect' },
  default: 'dump',
  subCommands: { dump },
})
