/** Commands of this program within texts. */

/** A text in which `name` replaces the name of the program before each command, such as `windfall owner reset`. */
export const commandsAs = (text: string, name: string): string =>
  // Not in a path such as /usr/local/bin/windfall.
  text.replace(/(?<![\w/.-])windfall (?=[a-z])/g, `${name} `)
