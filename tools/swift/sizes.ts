/** The sizes of compiled objects. */

type Sizes = {
  /** Machine code and constants, which is what `size` calls text, without `unwinding`. */
  text: number
  /** Tables that Linux needs for exceptions of C++. An app for iOS has much smaller ones. */
  unwinding: number
}

/** What an app does not load, and what it may write to. */
const NOT_TEXT =
  /^\.(debug|comment|note|group|symtab|strtab|rela|data|bss|tbss|tdata|init_array|fini_array|llvm)/

/** Adds up what `size -A -d` prints about objects: lines of a section, its size and its address. */
export function sizesIn(printed: string): Sizes {
  const sizes = { text: 0, unwinding: 0 }
  for (const [, section = '', bytes] of printed.matchAll(/^(\S+)\s+(\d+)\s+\d+$/gm)) {
    if (section === '.eh_frame') sizes.unwinding += Number(bytes)
    else if (!NOT_TEXT.test(section)) sizes.text += Number(bytes)
  }
  return sizes
}
