/** The options and arguments of a command in one form, for its help, the documents and the completion of shells. */
import type { ArgDef, ArgsDef } from 'citty'

/** `flag` is `--name`, or `--no-name` for an option that is on by default. `hint` names its value; null without one. */
type Option = { flag: string; hint: string | null; description: string }
/** `choices` are its possible values, if they are listed. */
type Argument = { name: string; required: boolean; description: string; choices: string[]; isFile: boolean }

/** The options of a command, with `--help`. */
export const optionsOf = (args: ArgsDef): Option[] => [
  ...Object.entries(args).flatMap(([name, arg]) => (arg.type === 'positional' ? [] : [optionOf(name, arg)])),
  { flag: '--help', hint: null, description: 'Show this help' },
]

function optionOf(name: string, arg: ArgDef): Option {
  const { description = '' } = arg
  if (arg.type !== 'boolean')
    return { flag: `--${name}`, hint: arg.valueHint ?? 'VALUE', description: withNote(description, arg) }
  const isOn = arg.default === true
  const text = isOn ? (arg.negativeDescription ?? `Do not: ${lowered(description)}`) : description
  return { flag: `--${isOn ? 'no-' : ''}${name}`, hint: null, description: text }
}

/** The description with the default or the requirement, unless it says so itself. */
function withNote(description: string, arg: ArgDef): string {
  if (arg.required === true && arg.default === undefined) return `${description} (required)`
  if (arg.default === undefined || /default/i.test(description)) return description
  return `${description} (default: ${String(arg.default)})`
}

const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The arguments of a command, in their order. A value hint such as `bash|zsh` lists the choices. */
export const positionalsOf = (args: ArgsDef): Argument[] =>
  Object.entries(args).flatMap(([name, { type, required, valueHint = '', description = '' }]) => {
    if (type !== 'positional') return []
    const choices = /^[a-z-]+(\|[a-z-]+)+$/.test(valueHint) ? valueHint.split('|') : []
    const isRequired = required !== false
    return [{ name: name.toUpperCase(), required: isRequired, description, choices, isFile: name === 'file' }]
  })

/** The command line of a command with these words, such as `windfall apps add [OPTIONS] BUNDLE`. */
export function usageOf(words: readonly string[], args: ArgsDef): string {
  const required = Object.entries(args).flatMap(([name, arg]) =>
    arg.type !== 'positional' && arg.required === true && arg.default === undefined
      ? [`--${name} ${arg.valueHint ?? 'VALUE'}`]
      : [],
  )
  const names = positionalsOf(args).map((one) => (one.required ? one.name : `[${one.name}]`))
  return ['windfall', ...words, ...required, '[OPTIONS]', ...names].join(' ')
}

/** An option with its value, such as `--days N`. */
export const optionText = ({ flag, hint }: Pick<Option, 'flag' | 'hint'>): string =>
  hint === null ? flag : `${flag} ${hint}`
