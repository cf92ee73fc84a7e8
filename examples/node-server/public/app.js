// Sends the request that a button names and lists the answer.
const answers = document.getElementById("answers");

for (const button of document.querySelectorAll("button[data-path]")) {
  button.addEventListener("click", async () => {
    const method = button.dataset.method ?? "GET";
    const path = button.dataset.path;
    const line = document.createElement("li");
    line.textContent = `${method} ${path} ...`;
    answers.prepend(line);
    const begin = performance.now();
    const response = await fetch(path, { method }).catch((error) => ({ status: error.message }));
    line.textContent = `${method} ${path}: ${response.status} after ${Math.round(performance.now() - begin)} ms`;
    line.className = response.status < 400 ? "good" : "bad";
  });
}
