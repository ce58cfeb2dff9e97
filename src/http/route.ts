/** What may be asked: the shape of one route, from which the server, its refusals and the OpenAPI document are made. */
import type { H3Event } from 'h3'
import type * as v from 'valibot'

/**
 * Who may call a route: an SDK with a key or device token, the owner's backend, a holder of a read token, the owner who
 * has signed in, a guest with a share link, or anybody.
 */
export type Security = 'sdk_key' | 'secret_key' | 'read_token' | 'session' | 'guest' | 'none'

/** What a route may answer with one status. */
export type Answer = Readonly<{ description: string; schema?: v.GenericSchema; content_type?: string }>

/**
 * One route. `handler` returns a value that JSON can hold (answered 200), `undefined` (204) or a `Response` of its own,
 * or throws a `Refusal`; `event.res.status` changes the status. `params`, `query` and `body` describe what the handler
 * validates; nothing is validated before it runs. `cors` opens the route to every web page, without credentials.
 * `any_host` answers whatever host was asked for. `private_path` keeps what the path names out of the log.
 */
export type Route = Readonly<{
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  summary: string
  description?: string
  tag: string
  params?: v.GenericSchema
  query?: v.GenericSchema
  body?: v.GenericSchema
  security?: readonly Security[]
  answers: Readonly<Record<number, Answer>>
  cors?: boolean
  any_host?: boolean
  private_path?: boolean
  handler: (event: H3Event) => unknown
}>
