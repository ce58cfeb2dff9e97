/** The values that name a bucket of S3 and its key. The configuration and the commands read them with the same rules. */
import * as v from 'valibot'
import { faultOfTargetUrl } from '../endpoint_values.ts'

/** The parts of `s3://bucket/path`. `path` has no slash at its ends, and is empty for the whole bucket. */
type BucketUrl = Readonly<{ bucket: string; path: string }>

const MAX_PATH_LENGTH = 800

/** The parts of the URL of a bucket, of a prefix or of an object in it; or what is wrong with it, as the end of a sentence. */
export function parseBucketUrl(text: string): BucketUrl | { fault: string } {
  if (/[@?]/.test(text))
    return { fault: 'has a key in it: set access_key_id and secret_access_key_file instead' }
  const [, bucket, rest = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? []
  if (bucket === undefined) return { fault: 'does not begin with s3://' }
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket))
    return { fault: 'does not name a bucket of 3 to 63 letters, digits, dots and hyphens' }
  const path = rest.replace(/\/$/, '')
  // These characters stand for themselves in a URL, so that every program signs the same path.
  if (!/^[A-Za-z0-9._~/-]*$/.test(path))
    return { fault: 'has a path with other characters than letters, digits and . _ ~ - /' }
  if (path !== '' && path.split('/').some((part) => /^\.{0,2}$/.test(part)))
    return { fault: 'has a path with an empty part, . or ..' }
  return path.length > MAX_PATH_LENGTH
    ? { fault: `has a path of more than ${MAX_PATH_LENGTH} characters` }
    : { bucket, path }
}

/** What can be printed of a text that should be a URL: keys and signatures can be before an @ and after a question mark. */
export const shownUrl = (text: string): string =>
  text
    .replace(/:\/+.*@/s, '://…@')
    .replace(/:\/+[^/@…]*:.*/s, '://…')
    .replace(/\?.*/s, '?…')

function faultOfBucketUrl(text: string): string | null {
  const parsed = parseBucketUrl(text)
  return 'fault' in parsed ? parsed.fault : null
}

/** The URL of a bucket or of a prefix in it, without a slash at the end. */
export const bucketUrl = v.pipe(
  v.string(),
  v.check(
    (text) => faultOfBucketUrl(text) === null,
    (issue) => faultOfBucketUrl(issue.input) ?? '',
  ),
  v.transform((text) => text.replace(/\/$/, '')),
)

/** The address of a service, without a slash at the end. Whether it is permitted is checked when Windfall connects. */
export const endpoint = v.pipe(
  v.string(),
  v.check(
    (text) => faultOfEndpoint(text) === null,
    (issue) => faultOfEndpoint(issue.input) ?? '',
  ),
  v.transform((text) => text.replace(/\/+$/, '')),
)

const faultOfEndpoint = (text: string): string | null =>
  faultOfTargetUrl(text) ?? (text.includes('?') ? 'has a query' : null)

export const region = v.pipe(v.string(), v.regex(/^[A-Za-z0-9-]{1,40}$/, 'is not the name of a region'))

export const accessKeyId = v.pipe(v.string(), v.regex(/^[\w.@+=-]{1,128}$/, 'is not the id of an access key'))

export const secretAccessKey = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,256}$/, 'has spaces or other characters that no key has'),
)
