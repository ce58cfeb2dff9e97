/** Records which backups this server verified in a bucket, and the upload in progress. */
import { UPLOADS } from '../store/backup/log.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'

/**
 * An upload that has begun. `isCopying` is true once there can be an object with this URL, and `etag` is the tag of that
 * object, empty if it is not known.
 */
export type BegunUpload = Readonly<{
  url: string
  bytes: number
  sha256: string
  isCopying: boolean
  etag?: string
}>

/** `begun` is the upload in progress, also if a crash ended it. `verified` has the sizes of objects by their URLs. */
type Uploads = { begun: BegunUpload | null; verified: Record<string, number> }

export function openUploadLog(store: Pick<Store, 'prepare'>) {
  const setting = openSetting(store, UPLOADS)

  /** What is recorded. */
  const read = (): Uploads => JSON.parse(setting.get() ?? '{"begun":null,"verified":{}}')
  const write = (uploads: Uploads): void => setting.set(JSON.stringify(uploads))

  /** Records the upload in progress, or with null that there is none. Call it inside a unit of work. */
  const noteBegun = (begun: BegunUpload | null): void => write({ ...read(), begun })

  /** Records that an upload ended with a verified object. Call it inside a unit of work. */
  const noteVerified = ({ url, bytes }: BegunUpload): void =>
    write({ begun: null, verified: { ...read().verified, [url]: bytes } })

  /** Forgets objects. Call it inside a unit of work. */
  function forget(isGone: (url: string) => boolean): void {
    const { begun, verified } = read()
    const left = Object.entries(verified).filter(([url]) => !isGone(url))
    write({ begun, verified: Object.fromEntries(left) })
  }

  return { read, noteBegun, noteVerified, forget }
}
