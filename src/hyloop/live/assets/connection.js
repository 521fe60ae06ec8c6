// The websocket: comes back by itself, and says how much it has read.
import { decode } from "./frames.js";

const soon = 250, later = 2000; // ms until another try

export class Connection {
  constructor(handlers) {
    this.handlers = handlers;
    this.wait = soon;
    this.open();
  }

  open() {
    this.socket = new WebSocket(`ws://${location.host}/live`);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("message", event => this.take(event.data));
    this.socket.addEventListener("close", () => {
      this.handlers.lost();
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, later);
    });
  }

  take(data) {
    const [header, numbers] = decode(data);
    this.wait = soon;
    if (header.kind === "about") { this.handlers.about(header); return; }
    this.handlers.frame(header, numbers);
    this.say({ ack: header.n });
  }

  say(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
