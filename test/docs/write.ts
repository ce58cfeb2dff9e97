/** `npm run docs`: writes config.example.toml, the table of settings and the reference of metrics from the code. */
import { writeDocuments } from './generated.ts'

writeDocuments()
