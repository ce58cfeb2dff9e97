/** The script for the app Scriptable (https://docs.scriptable.app): a widget for the Home Screen and the lock screen. */

/**
 * The script that reads a widget with a token. It keeps the last figures, and shows them with their time while the server
 * cannot be reached. It deletes them once the token is removed. The families of Scriptable: small, medium, large, extraLarge, accessoryCircular,
 * accessoryRectangular and accessoryInline.
 */
export const scriptableScript = (url: string, token: string): string =>
  SCRIPT.replace('"@URL"', JSON.stringify(url)).replace('"@TOKEN"', JSON.stringify(token))

const SCRIPT = `// Windfall widget. Paste this into a new script in Scriptable, then add a Scriptable widget and choose the script.
// The widget parameter names the figures, such as: mrr,revenue_today
const URL_OF_WIDGET = "@URL"
const TOKEN = "@TOKEN"

const files = FileManager.local()
// The cache folder may be emptied at any time, the documents folder is not.
const stored = files.joinPath(files.documentsDirectory(), "windfall-" + TOKEN.slice(-8) + ".json")
const family = config.widgetFamily || "medium"
const COLORS = {
  background: Color.dynamic(new Color("#ffffff"), new Color("#151b1a")),
  title: Color.dynamic(new Color("#5b6664"), new Color("#9aa6a3")),
  value: Color.dynamic(new Color("#101514"), new Color("#f2f5f4")),
  good: Color.dynamic(new Color("#15803d"), new Color("#4ade80")),
  bad: Color.dynamic(new Color("#b91c1c"), new Color("#f87171")),
  line: Color.dynamic(new Color("#0f766e"), new Color("#2dd4bf")),
}
const ROWS = { small: 2, medium: 2, large: 4, extraLarge: 4, accessoryRectangular: 2 }

async function load() {
  let answer
  try {
    const request = new Request(URL_OF_WIDGET)
    request.headers = { Authorization: "Bearer " + TOKEN }
    request.timeoutInterval = 10
    answer = await request.loadJSON()
    const status = request.response.statusCode
    if (status !== 200) throw new Error("The server answered " + status + ".")
    files.writeString(stored, JSON.stringify(answer))
    return { data: answer, note: answer.stale ? "catching up" : "" }
  } catch (error) {
    // Another 404 can be that of a proxy while the server is away.
    const isRemoved = answer && answer.code === "unknown_widget"
    if (isRemoved && files.fileExists(stored)) files.remove(stored)
    if (isRemoved) return { data: null, note: "The token was removed." }
    if (!files.fileExists(stored)) return { data: null, note: String(error.message || error) }
    const data = JSON.parse(files.readString(stored))
    return { data, note: "offline, " + data.updated_at_text }
  }
}

function wantedIn(data) {
  const asked = String(args.widgetParameter || "").split(",").map((one) => one.trim())
  const chosen = asked.filter((one) => data.metrics.includes(one))
  return chosen.length > 0 ? chosen : data.metrics
}

function spark(values, width, height) {
  const known = values.filter((value) => value !== null)
  const context = new DrawContext()
  context.size = new Size(width, height)
  context.opaque = false
  context.respectScreenScale = true
  if (known.length > 1) {
    const low = Math.min(...known)
    const span = Math.max(...known) - low || 1
    const path = new Path()
    let isGap = true
    values.forEach((value, index) => {
      if (value === null) { isGap = true; return }
      const point = new Point((index * (width - 2)) / (values.length - 1) + 1, height - 1 - ((value - low) / span) * (height - 2))
      if (isGap) path.move(point)
      else path.addLine(point)
      isGap = false
    })
    context.addPath(path)
    context.setStrokeColor(COLORS.line)
    context.setLineWidth(2)
    context.strokePath()
  }
  return context.getImage()
}

function addText(to, text, size, color, isBold) {
  const added = to.addText(text)
  added.font = isBold ? Font.semiboldSystemFont(size) : Font.systemFont(size)
  if (color) added.textColor = color
  added.lineLimit = 1
  added.minimumScaleFactor = 0.5
  return added
}

function addRow(widget, data, name, isWide) {
  const row = widget.addStack()
  row.centerAlignContent()
  const left = row.addStack()
  left.layoutVertically()
  // The change has no line of its own, for which a small phone has no room.
  const head = left.addStack()
  addText(head, data[name + "_title"], 11, COLORS.title)
  const change = data[name + "_change_text"]
  if (change !== "") {
    head.addSpacer(4)
    addText(head, change, 11, data[name + "_change"] < 0 ? COLORS.bad : COLORS.good)
  }
  addText(left, isWide ? data[name + "_text"] : data[name + "_short"], 20, COLORS.value, true)
  if (!isWide) return
  row.addSpacer()
  row.addImage(spark(data[name + "_spark"], 110, 36))
}

function accessory(widget, data, names, note) {
  const [first, second] = names
  if (family === "accessoryInline") {
    addText(widget, data[first + "_title"] + " " + data[first + "_short"], 12)
    return
  }
  if (family === "accessoryCircular") {
    widget.addAccessoryWidgetBackground = true
    addText(widget, data[first + "_short"], 14, null, true).centerAlignText()
    return
  }
  for (const name of [first, second]) if (name) addText(widget, data[name + "_title"] + " " + data[name + "_short"], 14, null, name === first)
  if (note !== "") addText(widget, note, 10)
}

function home(widget, data, names, note) {
  widget.backgroundColor = COLORS.background
  addText(widget, data.name, 12, COLORS.title, true)
  widget.addSpacer(6)
  names.slice(0, ROWS[family] || 2).forEach((name, index) => {
    if (index > 0) widget.addSpacer(8)
    addRow(widget, data, name, family !== "small")
  })
  widget.addSpacer()
  addText(widget, note === "" ? data.updated_at_text : note, 10, COLORS.title)
}

const { data, note } = await load()
const widget = new ListWidget()
widget.refreshAfterDate = new Date(Date.now() + 15 * 60 * 1000)
if (data === null) {
  addText(widget, "Windfall", 12, null, true)
  const text = addText(widget, note, 11)
  text.lineLimit = 4
} else {
  widget.url = data.url
  const draw = family.startsWith("accessory") ? accessory : home
  draw(widget, data, wantedIn(data), note)
}
Script.setWidget(widget)
if (!config.runsInWidget && !config.runsInAccessoryWidget) await widget.presentMedium()
Script.complete()
`
