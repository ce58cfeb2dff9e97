/** What we compute: the target of a request as it is routed. */

const SDK = '/api/sdk/'

/**
 * The target with single slashes in its path where that makes it one of the SDK endpoints: some SDKs join a base URL that
 * ends in a slash and a path that begins with one. Any other target stays as it is.
 */
export function normalizeTarget(target: string): string {
  if (!target.includes('//')) return target
  const [path = ''] = target.split(/[?#]/, 1)
  const single = path.replace(/\/{2,}/g, '/')
  return single.startsWith(SDK) ? `${single}${target.slice(path.length)}` : target
}
