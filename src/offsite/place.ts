/** Where backups are kept off-site: the bucket, its service and the key. */
import { parseBucketUrl, shownUrl } from '../config/backup/bucket.ts'
import type { Config } from '../config/settings.ts'
import { Refusal } from '../errors.ts'

/** `url` is `s3://bucket/path`; `path` is a prefix or a key, and empty for the whole bucket. */
export type Place = Readonly<{
  url: string
  bucket: string
  path: string
  endpoint: string
  host: string
  region: string
  access_key_id: string
  secret_access_key: string
}>

type Settings = Pick<Config['backup'], 'endpoint' | 'region' | 'access_key_id' | 'secret_access_key'>

const SET_KEY =
  'set access_key_id and secret_access_key_file in [backup] of config.toml, or WINDFALL_BACKUP_ACCESS_KEY_ID and WINDFALL_BACKUP_SECRET_ACCESS_KEY'

/** The place at `url`, with the service and the key of the settings. @throws Refusal 400 `invalid_url`, `no_bucket_key` */
export function placeAt(url: string, settings: Settings): Place {
  const parsed = parseBucketUrl(url)
  if ('fault' in parsed) throw new Refusal(400, 'invalid_url', `${shownUrl(url)} ${parsed.fault}`)
  const { region, access_key_id, secret_access_key } = settings
  if (access_key_id === null || secret_access_key === null)
    throw new Refusal(400, 'no_bucket_key', `${url} needs a key: ${SET_KEY}`)
  const endpoint = settings.endpoint ?? `https://s3.${region}.amazonaws.com`
  const path = parsed.path === '' ? '' : `/${parsed.path}`
  const { host } = new URL(endpoint)
  return {
    ...parsed,
    url: `s3://${parsed.bucket}${path}`,
    endpoint,
    host,
    region,
    access_key_id,
    secret_access_key,
  }
}

/** The URL of an object in the bucket of a place. */
export const urlOf = ({ bucket }: Place, key: string): string => `s3://${bucket}/${key}`
