/** Validates the answers to `windfall connect` as far as possible without a request to Apple. */
import { faultOfIssuer, faultOfKeyId, faultOfVendorNumber, SAME_KEY } from '../../doctor/apple/key_answers.ts'
import { type FlagName, type Flags, NONE } from './answers.ts'
import { type KeyFile, readKeyFile } from './keys.ts'

/** The folder that relative key paths are resolved against, and the folder that `~` stands for. */
export type PathOptions = { cwd: string; home: string | undefined }

/** The vendor numbers in one answer, without duplicates. */
export const vendorsIn = (text: string | null): string[] => [
  ...new Set((text ?? '').split(',').flatMap((number) => number.trim() || [])),
]

/** The faults of the options that can be found without Apple. `canPrompt`: a prompt can request a missing key id. */
export function faultsInFlags(flags: Flags, places: PathOptions, canPrompt: boolean): string[] {
  const connectFile = fileIn(flags['connect-key'], places)
  const purchaseFile = fileIn(flags['purchase-key'], places)
  const ids = (['connect-key-id', 'purchase-key-id'] as const).map((name) =>
    faultOfFlag(flags[name], faultOfKeyId),
  )
  const issuers = (['issuer', 'purchase-issuer'] as const).map((name) =>
    faultOfFlag(flags[name], faultOfIssuer),
  )
  const vendors = flags.vendor === NONE ? [] : vendorsIn(flags.vendor ?? null).map(faultOfVendorNumber)
  const isSameKey =
    typeof connectFile === 'object' &&
    typeof purchaseFile === 'object' &&
    connectFile?.pem.trim() === purchaseFile?.pem.trim()
  return [
    typeof connectFile === 'string' ? connectFile : null,
    typeof purchaseFile === 'string' ? purchaseFile : null,
    isSameKey && connectFile !== null ? SAME_KEY : null,
    canPrompt ? null : faultOfMissingId(connectFile, 'connect-key-id', flags),
    canPrompt ? null : faultOfMissingId(purchaseFile, 'purchase-key-id', flags),
    ...ids,
    ...issuers,
    ...vendors,
  ].filter((fault) => fault !== null)
}

const faultOfFlag = (
  value: string | undefined,
  faultOf: (value: string | null) => string | null,
): string | null => (value === undefined || value === NONE ? null : faultOf(value))

const fileIn = (path: string | undefined, places: PathOptions): KeyFile | string | null =>
  path === undefined || path === NONE ? null : readKeyFile(path, places)

function faultOfMissingId(file: KeyFile | string | null, name: FlagName, flags: Flags): string | null {
  const isOptional = typeof file !== 'object' || file === null || file.guessed_id !== null
  return isOptional || flags[name] !== undefined ? null : `--${name} is required`
}
