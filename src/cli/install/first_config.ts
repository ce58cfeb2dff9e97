/** The config file that an installation begins with. */
import { join } from 'node:path'
import { commentedConfig } from '../../config/documents.ts'

/** The first config file: the database below the folder `data`, and a backup each night. */
export const firstConfig = (data: string): string =>
  commentedConfig(undefined, {
    'store.path': join(data, 'windfall.db'),
    'backup.folder': join(data, 'backups'),
    'backup.schedule': '30 3 * * *',
  })
