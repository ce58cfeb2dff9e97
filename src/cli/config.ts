/** The command `windfall config dump`: every setting in effect with its source. */
import { defineCommand } from 'citty'
import { effectiveSettings } from '../config/effective_settings.ts'
import { tomlText } from '../config/setting.ts'
import { columns, configArg, load } from './instance/instance.ts'
import { print, setResult } from './instance/output.ts'

type Setting = ReturnType<typeof effectiveSettings>[number]['settings'][number]

const dump = defineCommand({
  meta: { name: 'dump', description: 'Print every setting with its value and where the value comes from' },
  args: configArg,
  run({ args }) {
    const { config, ...sources } = load(args.config)
    const sections = effectiveSettings(config, sources)
    setResult({ config_file: sources.file, sections })
    const rows = sections.flatMap(({ settings }) => settings.map(rowOf))
    print(columns([['setting', 'value', 'source'], ...rows]))
  },
})

const rowOf = (setting: Setting): string[] => [setting.path, valueText(setting), sourceText(setting)]

function valueText({ value, is_secret, is_set }: Setting): string {
  if (!is_set) return 'not set'
  return is_secret ? '(not shown)' : tomlText(value)
}

/** A variable has its own name as its place. */
const sourceText = ({ source, place }: Setting): string =>
  place === null || source === 'default' ? source : `${source} ${place}`

export const configCommand = defineCommand({
  meta: { name: 'config', description: 'Show the configuration in effect' },
  default: 'dump',
  subCommands: { dump },
})
