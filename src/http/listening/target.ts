/** Normalizes the target of a request before routing. */

const SDK = '/api/sdk/'

/**
 * Collapses repeated slashes in the path of an SDK endpoint, because some SDKs join a base URL that ends in a slash
 * with a path that begins with a slash. Any other target stays unchanged.
 */
export function normalizeTarget(target: string): string {
  if (!target.includes('//')) return target
  const [path = ''] = target.split(/[?#]/, 1)
  const collapsedPath = path.replace(/\/{2,}/g, '/')
  return collapsedPath.startsWith(SDK) ? `${collapsedPath}${target.slice(path.length)}` : target
}
