/** The path of the file with the key that seals secrets. A backup contains the file. */
import { dirname, join } from 'node:path'

export const KEY_FILE = 'windfall.key'

/** The path of the key file of a database: in the same folder. */
export const keyFileOf = (database: string): string => join(dirname(database), KEY_FILE)
