/** What the tests of each SDK use of the server, and of the other tests, from the top of the repository. */
export const SERVER: readonly string[] = [
  'src/api/sdk',
  'src/attribution',
  'src/http',
  'test/attribution/devices',
  'test/sdk',
  'tools/due',
]
