;;; emacs.el --- The scenario in Emacs with eglot  -*- lexical-binding: t -*-

;; emacs --batch -l emacs.el, in the app's folder.  Takes TOOL_SCENARIO (the steps), TOOL_RESULTS (where the answers go)
;; and TOOL_SERVER (the command, as JSON).  No -Q: it would hide Debian's packages.

(require 'cl-lib)
(require 'json)
(package-initialize)
(require 'eglot)
(require 'flymake)
(require 'js)

(defconst wait-seconds 10)

;; Nothing is typed in batch mode, so that nobody could answer a question.
(setq eglot-sync-connect t
      eglot-autoreconnect nil
      eglot-confirm-server-initiated-edits nil)

(define-derived-mode tool-json-mode js-mode "tool.json")
(put 'tool-json-mode 'eglot-language-id "json")
(add-to-list 'eglot-server-programs
             (cons 'tool-json-mode (append (json-parse-string (getenv "TOOL_SERVER") :array-type 'list) nil)))

(defvar server nil)
(defvar pushed 0 "How often the server has pushed diagnostics.")
(cl-defmethod eglot-handle-notification :after (_server (_method (eql textDocument/publishDiagnostics)) &rest _)
  (cl-incf pushed))

(defun text () (buffer-substring-no-properties (point-min) (point-max)))

(defun go (marked)
  "Stand where the | in MARKED is; without it occurs once in the text."
  (let ((bar (or (string-match "|" marked) (error "No | in %s" marked))))
    (goto-char (+ (find-only (concat (substring marked 0 bar) (substring marked (1+ bar)))) bar))))

(defun find-only (needle)
  "Where NEEDLE begins, which occurs once in the text."
  (save-excursion
    (goto-char (point-min))
    (let ((case-fold-search nil))
      (unless (search-forward needle nil t) (error "Not in the text: %s" needle))
      (let ((begin (- (point) (length needle))))
        (when (search-forward needle nil t) (error "More than once in the text: %s" needle))
        begin))))

(defun edit (step)
  "Change the text as STEP says, and put the cursor where it says."
  (let ((old (alist-get 'replace step)) (new (alist-get 'with step)) (at (alist-get 'at step)))
    (when old
      (goto-char (find-only old))
      (delete-region (point) (+ (point) (length old)))
      (insert (replace-regexp-in-string "|" "" new t t))
      (when (string-match-p "|" new) (go new)))
    (when at (go at))
    ;; A timer does this while a person pauses; in batch mode nobody is ever idle.
    (eglot--signal-textDocument/didChange)))

(defun wait (what holds)
  (with-timeout (wait-seconds (error "Waited %s s for %s" wait-seconds what))
    (while (not (funcall holds)) (accept-process-output nil 0.02))))

(defun position-of (point)
  (save-excursion (goto-char point) (format "%d:%d" (line-number-at-pos) (1+ (current-column)))))

(defun problems (since)
  "What flymake shows after the server has pushed something newer than SINCE."
  (wait "diagnostics" (lambda () (> pushed since)))
  (flymake-start)
  (vconcat
   (mapcar (lambda (found)
             (format "%s %s" (position-of (flymake-diagnostic-beg found)) (flymake-diagnostic-text found)))
           (sort (flymake-diagnostics) (lambda (a b) (< (flymake-diagnostic-beg a) (flymake-diagnostic-beg b)))))))

(defun step-open (_step)
  (find-file "tool.json")
  (tool-json-mode)
  (let ((since pushed))
    (apply #'eglot (eglot--guess-contact))
    (setq server (eglot--current-server-or-lose))
    `((problems . ,(problems since)))))

(defun step-diagnostics (step)
  (let ((since pushed))
    (edit step)
    `((problems . ,(problems since)))))

(defun step-fix (step)
  (edit step)
  (let ((since pushed) titles (last-nonmenu-event ?\r))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt items &rest _)
                 (setq titles (vconcat (mapcar #'car items)))
                 (alist-get 'pick step))))
      (eglot-code-actions (point) nil nil t))
    (eglot--signal-textDocument/didChange)
    `((titles . ,titles) (problems . ,(problems since)))))

(defun step-complete (step)
  (edit step)
  (pcase-let* ((`(,begin ,end ,table . ,plist) (eglot-completion-at-point))
               (found (all-completions (buffer-substring begin (point)) table))
               (order (alist-get 'display-sort-function (cdr (funcall table "" nil 'metadata))))
               (found (if order (funcall order found) found))
               (picked (cl-find (alist-get 'pick step) found :test #'string=)))
    (when picked
      ;; What completion-at-point does when a person picks one.
      (delete-region begin end)
      (goto-char begin)
      (insert picked)
      (funcall (plist-get plist :exit-function) picked 'finished))
    `((labels . ,(vconcat (mapcar #'substring-no-properties found))))))

(defun step-hover (step)
  (edit step)
  (let (shown)
    (eglot-hover-eldoc-function (lambda (info &rest _) (setq shown (or info ""))))
    (wait "the hover" (lambda () shown))
    `((hover . ,(substring-no-properties shown)))))

(defun step-definition (step)
  (edit step)
  (xref-find-definitions (xref-backend-identifier-at-point 'eglot))
  `((at . ,(position-of (point)))))

(defun step-rename (step)
  (edit step)
  (eglot-rename (alist-get 'to step))
  nil)

(defun step-format (step)
  (edit step)
  (let ((indent-tabs-mode nil) (tab-width 2)) (eglot-format-buffer))
  nil)

(defun step-lens (step)
  "Eglot 1.9 shows no lenses: they are asked for on its connection."
  (edit step)
  (let ((lenses (jsonrpc-request server :textDocument/codeLens (list :textDocument (eglot--TextDocumentIdentifier)))))
    `((lenses . ,(vconcat
                  (mapcar (lambda (lens)
                            (format "%d %s"
                                    (1+ (plist-get (plist-get (plist-get lens :range) :start) :line))
                                    (plist-get (plist-get lens :command) :title)))
                          lenses))))))

(defun step-shutdown (_step)
  "What `eglot-shutdown' says; version 1.9 kills the process right after it, before any server can have ended."
  (let ((process (jsonrpc--process server)))
    (setf (eglot--shutdown-requested server) t)
    (jsonrpc-request server :shutdown nil)
    (jsonrpc-notify server :exit nil)
    (wait "the server's end" (lambda () (not (process-live-p process))))
    `((exit . ,(process-exit-status process)))))

(let (results failed)
  (cl-loop
   for step across (with-temp-buffer
                 (insert-file-contents (getenv "TOOL_SCENARIO"))
                 (json-parse-buffer :object-type 'alist))
   until failed
   do (let ((answer (condition-case problem
                        (funcall (intern (concat "step-" (alist-get 'do step))) step)
                      (error (setq failed t) `((error . ,(error-message-string problem)))))))
        (push `((text . ,(text)) ,@answer) results)))
  (let ((coding-system-for-write 'utf-8-unix))
    (write-region (json-encode (vconcat (nreverse results))) nil (getenv "TOOL_RESULTS") nil 'quiet))
  ;; A server that is left after a failure must not hold up the end.
  (setq kill-emacs-hook nil)
  (dolist (process (process-list)) (set-process-query-on-exit-flag process nil))
  (kill-emacs 0))

;;; emacs.el ends here
