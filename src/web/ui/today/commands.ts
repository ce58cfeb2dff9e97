/** Commands within texts from the server. */

/** How to run the program: the build defines it for the form that it builds. */
declare const COMMAND_NAME: string

/** A text with the commands in it, such as `windfall owner reset`, as they are run on this server. */
export const withCommands = (text: string): string =>
  text.replace(/\bwindfall (?=[a-z])/g, `${COMMAND_NAME} `)
