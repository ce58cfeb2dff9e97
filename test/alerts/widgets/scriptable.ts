/** Runs the script of the widget in an imitation of Scriptable (https://docs.scriptable.app), and returns what it drew. */
import { runInNewContext } from 'node:vm'

/** What the server answers; null if it cannot be reached. */
type Answer = { status: number; body: unknown } | null
type Options = { family: string | null; answer: Answer; files: Map<string, string>; parameter?: string }
/** `texts` are the drawn texts in order; `requests` what was asked. */
export type Drawn = {
  texts: string[]
  images: number
  url: string | undefined
  background: boolean
  requests: { url: string; headers: Record<string, string>; timeoutInterval: number }[]
  isCompleted: boolean
  isPresented: boolean
  refreshAfterDate: Date | undefined
}

/** The script ends with statements that await, so it becomes the body of a function. */
export async function runScript(
  script: string,
  { family, answer, files, parameter }: Options,
): Promise<Drawn> {
  const drawn: Drawn = {
    texts: [],
    images: 0,
    url: undefined,
    background: false,
    requests: [],
    isCompleted: false,
    isPresented: false,
    refreshAfterDate: undefined,
  }
  const stack = () => ({
    addText(text: string) {
      if (typeof text !== 'string') throw new TypeError('addText takes a text')
      drawn.texts.push(text)
      return { centerAlignText() {} }
    },
    addImage: () => {
      drawn.images += 1
    },
    addStack: () => stack(),
    addSpacer: () => {},
    layoutVertically: () => {},
    centerAlignContent: () => {},
  })
  const widgets: Record<string, unknown>[] = []
  const globals = {
    ListWidget: function ListWidget() {
      const widget = {
        ...stack(),
        presentMedium: async () => {
          drawn.isPresented = true
        },
      }
      widgets.push(widget)
      return widget
    },
    Request: function Request(url: string) {
      const request = {
        url,
        headers: {} as Record<string, string>,
        timeoutInterval: 60,
        response: { statusCode: 0 },
        async loadJSON() {
          drawn.requests.push({ url, headers: { ...this.headers }, timeoutInterval: this.timeoutInterval })
          if (answer === null) throw new Error('The Internet connection appears to be offline.')
          this.response.statusCode = answer.status
          return answer.body
        },
      }
      return request
    },
    FileManager: {
      local: () => ({
        documentsDirectory: () => '/documents',
        joinPath: (folder: string, name: string) => `${folder}/${name}`,
        fileExists: (path: string) => files.has(path),
        readString: (path: string) => files.get(path),
        writeString: (path: string, text: string) => void files.set(path, text),
      }),
    },
    Color: Object.assign(
      function Color(hex: string) {
        return { hex }
      },
      { dynamic: (light: object, dark: object) => ({ light, dark }) },
    ),
    Font: { systemFont: () => ({}), semiboldSystemFont: () => ({}) },
    Size: function Size() {},
    Point: function Point() {},
    Path: function Path() {
      return { move() {}, addLine() {} }
    },
    DrawContext: function DrawContext() {
      const draws = { addPath() {}, setStrokeColor() {}, setLineWidth() {}, strokePath() {} }
      return { ...draws, getImage: () => ({}) }
    },
    Script: {
      setWidget: () => {},
      complete: () => {
        drawn.isCompleted = true
      },
    },
    config: {
      widgetFamily: family,
      runsInWidget: family !== null && !family.startsWith('accessory'),
      runsInAccessoryWidget: family?.startsWith('accessory') ?? false,
    },
    args: { widgetParameter: parameter ?? null },
  }
  await runInNewContext(`(async () => {${script}\n})()`, globals)
  const [widget] = widgets
  drawn.url = widget?.url as string | undefined
  drawn.background = widget?.addAccessoryWidgetBackground === true
  drawn.refreshAfterDate = widget?.refreshAfterDate as Date | undefined
  return drawn
}
