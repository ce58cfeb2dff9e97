/** Ends the session of this browser. */
import { write } from '../http.ts'

export const signOut = async (): Promise<void> => {
  await write('POST', '/api/v1/logout')
  // A full page load clears all data from memory.
  location.assign('/')
}
