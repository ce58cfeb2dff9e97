/** Commands within texts from the server. */

import { commandsAs } from '../../../program/commands.ts'

/** How to run the program: the build defines it for the form that it builds. */
declare const COMMAND_NAME: string

/** A text with the commands in it, such as `windfall owner reset`, as they are run on this server. */
export const withCommands = (text: string): string => commandsAs(text, COMMAND_NAME)
