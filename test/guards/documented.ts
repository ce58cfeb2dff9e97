/** Checks every response in the tests against the OpenAPI document. */
import type { Route } from '../../src/http/route.ts'
import { fractionIn } from './bound_numbers.ts'

/** Statuses that any route may return without documenting them. */
const ANYWHERE = [405, 421, 500, 503]

/** @throws Error if a route returns a status or an error code that the OpenAPI document does not list. */
export async function assertDocumented(
  routes: readonly Route[],
  { path, method }: { path: string; method: string },
  response: Response,
): Promise<void> {
  await assertWholeNumbers(`${method} ${path}`, response)
  if (ANYWHERE.includes(response.status)) return
  const route = routeOf(routes, new URL(path, 'http://localhost').pathname, method)
  if (!route) return
  const answer = route.answers[response.status]
  const outcome = `${method} ${route.path} returned ${response.status}`
  if (!answer) throw new Error(`${outcome}, which is not documented`)
  if (response.headers.get('content-type') !== 'application/problem+json' || method === 'HEAD') return
  const { code } = (await response.clone().json()) as { code: string }
  if (!answer.description.split(', ').includes(code))
    throw new Error(`${outcome} ${code}, which is not documented`)
}

/** @throws Error if a time, duration or amount in a JSON body has a fraction */
async function assertWholeNumbers(request: string, response: Response): Promise<void> {
  if (!/^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '')) return
  const fraction = fractionIn(await response.clone().text())
  if (fraction !== null) throw new Error(`${request} answered ${fraction}`)
}

const patterns = new Map<string, RegExp>()

function patternOf(path: string): RegExp {
  const pattern =
    patterns.get(path) ?? new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
  patterns.set(path, pattern)
  return pattern
}

const routeOf = (routes: readonly Route[], pathname: string, method: string) =>
  routes
    .filter((one) => one.method === (method === 'HEAD' ? 'GET' : method))
    .filter(({ path }) => patternOf(path).test(pathname))
    // A fixed path takes precedence over a path with parameters.
    .sort((one, other) => one.path.split(':').length - other.path.split(':').length)[0]
