/** What may be asked: the front door, for whoever opens the address in a browser. */
import type { Route } from './route.ts'

/** `GET /`: that it runs, and where to go on. */
export function frontRoute(version: string): Route {
  const text = `Windfall ${version} runs; a dashboard is not part of it yet.\nWhat it answers is described at /api/openapi.json\n`
  return {
    method: 'GET',
    path: '/',
    summary: 'That it runs, and where to go on, in two lines',
    tag: 'Operations',
    security: ['none'],
    answers: { 200: { description: 'Two lines of text', content_type: 'text/plain' } },
    handler: () => new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
  }
}
